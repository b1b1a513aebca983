import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { openOrCreateSecretFile } from '../../src/secrets/secret-file.ts';
import { assertFailed } from './run-marketplace.ts';
import { marketplaceOnFreshFolder } from './sample-data-folder.ts';

test('rotate adds a secret and retains the older secrets', async (t) => {
  const { folder, run } = marketplaceOnFreshFolder(t);
  const path = join(folder, 'secrets.json');
  mkdirSync(folder);
  const before = openOrCreateSecretFile(path, false);
  const { code, stdout } = await run('secret', 'rotate');
  assert.equal(code, 0);
  assert.match(stdout, /^added secret 2; .*next start\n$/);
  const after = openOrCreateSecretFile(path, true);
  assert.deepEqual(after.secretVersions, [1, 2]);
  assert.equal(after.newest.number, 2);
  assert.deepEqual(after.unitKey, before.unitKey);
  assert.deepEqual(after.deriveKey(1, 'sub-id'), before.deriveKey(1, 'sub-id'));
  assert.notDeepEqual(after.deriveKey(2, 'sub-id'), before.deriveKey(1, 'sub-id'));
  assert.equal(statSync(path).mode & 0o777, 0o600);
  assert(!stdout.includes(after.newest.bytes.toString('hex')));
});

test('rotate fails if the secret file is missing', async (t) => {
  const { folder, run } = marketplaceOnFreshFolder(t);
  const message = /^marketplace: .*secrets\.json is missing.*SVC_SECRET_FILE.*\n$/;
  assertFailed(await run('secret', 'rotate'), 1, message);
  assert(!existsSync(join(folder, 'secrets.json')));
});

test('secret rotate does not change an invalid secret file, or a file with the highest secret number', async (t) => {
  const { folder, run } = marketplaceOnFreshFolder(t);
  const path = join(folder, 'secrets.json');
  mkdirSync(folder);
  const full = JSON.stringify({ secrets: [{ number: 255, hex: 'a'.repeat(64) }] });
  for (const [text, reason] of [
    ['{', /is not JSON/],
    [full, /no further secret can be added/],
  ] as const) {
    writeFileSync(path, text);
    assertFailed(await run('secret', 'rotate'), 1, reason);
    assert.equal(readFileSync(path, 'utf8'), text);
  }
});
