import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { createApiKeys } from '../../../bench/target/service-target.ts';
import { hashApiKey } from '../../../src/auth/api-key.ts';
import { keyFilePath } from '../../../src/auth/key-file.ts';
import { KeyRegistry } from '../../../src/auth/key-registry.ts';

test('creates many valid keys of one account at once', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'bench-keys-'));
  try {
    const limits = { requestsPerMinute: 7, analyticsPerMinute: null, sessionsPerDay: 9 };
    const keys = createApiKeys(folder, 3_000, limits);
    assert.equal(new Set(keys.map(hashApiKey)).size, 3_000);
    const register = KeyRegistry.openExisting(keyFilePath(folder));
    const issued = register.list();
    register.close();
    assert.equal(issued.length, 3_000);
    assert.equal(new Set(issued.map(({ id }) => id)).size, 3_000);
    assert.equal(new Set(issued.map(({ number }) => number)).size, 3_000);
    const { id: _, number: __, ...first } = issued[0]!;
    for (const { id: _, number: __, ...other } of issued) assert.deepEqual(other, first);
    assert.deepEqual(first.limits, limits);
  } finally {
    await rm(folder, { recursive: true });
  }
});
