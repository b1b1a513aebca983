import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { auditLogPath, SqliteAuditLog } from '../../src/audit/sqlite-audit-log.ts';
import { verifyAuditLog } from '../../src/audit/verify-audit-log.ts';
import { runMarketplace } from '../cli/run-marketplace.ts';
import { createKey } from '../cli/sample-data-folder.ts';
import { ServedProcess } from '../cli/served-process.ts';
import { runAfterTest } from '../support/run-after-test.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const program = fileURLToPath(new URL('programs/die-after-entry.ts', import.meta.url));

for (const [change, action] of [
  ['key', 'key.create'],
  ['secret', 'secret.rotate'],
] as const) {
  test(`a kill between the entry ${action} and its change leaves the entry, and no change`, async (t) => {
    const folder = temporaryFolder(t);
    const settings = { SVC_DATA_DIR: folder };
    const served = new ServedProcess(t, settings);
    await served.greeting;
    await served.stop();
    const readState = async () => [
      (await runMarketplace(['keys', 'list', '--json'], settings)).stdout,
      readFileSync(join(folder, 'secrets.json'), 'utf8'),
    ];
    const stateBefore = await readState();

    const { signal } = spawnSync(process.execPath, [program, folder, change]);
    assert.equal(signal, 'SIGKILL');
    assert.deepEqual(await readState(), stateBefore);
    const log = new SqliteAuditLog(auditLogPath(folder), 1_000);
    runAfterTest(t, () => log.close());
    const end = log.readEnd()!;
    assert.equal(log.readEntriesAfter(end.number - 1, 1)[0]!.action, action);

    // The next change continues the chain.
    await createKey(folder);
    const { end: lastEnd, problem } = await verifyAuditLog(log, { known: end });
    assert.deepEqual([lastEnd?.number, problem], [end.number + 1, null]);
  });
}

test('a killed server has an entry of each key that it created', async (t) => {
  const folder = temporaryFolder(t);
  const served = new ServedProcess(t, { SVC_DATA_DIR: folder, SVC_LISTENER: 'node' });
  const operations = await served.client(t, 'operations');
  const token = readFileSync(join(folder, 'operator-token'), 'utf8').trim();
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
  const body = JSON.stringify({ account: 'acme', vertical: 'personal-loans', mode: 'test' });
  const requests = Array.from({ length: 20 }, async () => {
    const created = operations.send({ method: 'POST', path: '/keys', headers, body });
    return created.then(({ status }) => assert.equal(status, 201));
  });
  await Promise.any(requests);
  served.signal('SIGKILL');
  await Promise.allSettled(requests);
  await served.ended;
  const { stdout } = await runMarketplace(['keys', 'list', '--json'], { SVC_DATA_DIR: folder });
  const ids = (JSON.parse(stdout) as { id: string }[]).map(({ id }) => id);
  assert.ok(ids.length > 10);
  const log = new SqliteAuditLog(auditLogPath(folder), 1_000);
  runAfterTest(t, () => log.close());
  assert.deepEqual(
    ids.filter((id) => log.findLastEntry('key.create', id) === null),
    [],
  );
});
