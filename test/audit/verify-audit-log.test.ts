import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import Database from 'better-sqlite3';
import { type AuditEntryId, hashEntry, serviceActor } from '../../src/audit/audit-log.ts';
import { auditLogPath, SqliteAuditLog } from '../../src/audit/sqlite-audit-log.ts';
import { verifyAuditLog } from '../../src/audit/verify-audit-log.ts';
import { bounds } from '../../src/bounds.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const entryCount = 10;

/** Writes a log, changes its file, and verifies it. `known` is the last entry before the change. */
async function verifyAfter(
  t: TestContext,
  damage: (database: Database.Database) => void,
  { knows = true }: { readonly knows?: boolean } = {},
) {
  const path = auditLogPath(temporaryFolder(t));
  const log = new SqliteAuditLog(path, 1_000);
  for (let i = 2; i <= entryCount; i++) {
    const change = { timeMs: i, action: 'key.create', subject: `key_${i}`, details: { account: 'acme' } } as const;
    log.append([{ ...change, actor: serviceActor }]);
  }
  const known = log.readEnd();
  const database = new Database(path);
  damage(database);
  database.close();
  const verification = await verifyAuditLog(log, { known: knows ? known : null });
  log.close();
  return verification;
}

/** Changes of the file, and the entry and problem that the verification must name. */
const mutants: readonly (readonly [what: string, sql: string, number: number, problem: RegExp])[] = [
  ...['time = 1', "actor = 'operator_token'", "actor_name = 'x'", "action = 'key.revoke'", "subject = 'key_x'"].map(
    (set) => [`a changed entry: ${set}`, `UPDATE entries SET ${set} WHERE number = 5`, 5, /was changed/] as const,
  ),
  ['changed details', "UPDATE entries SET details = '{}' WHERE number = 5", 5, /was changed/],
  ['a changed hash', 'UPDATE entries SET hash = previous_hash WHERE number = 5', 5, /was changed/],
  ['a changed previous hash', 'UPDATE entries SET previous_hash = hash WHERE number = 5', 5, /was changed/],
  ['a changed last entry', `UPDATE entries SET subject = 'x' WHERE number = ${entryCount}`, entryCount, /was changed/],
  ['a removed entry', 'DELETE FROM entries WHERE number = 5', 6, /entry 5 is missing/],
  ['two removed entries', 'DELETE FROM entries WHERE number IN (5, 6)', 7, /entries 5 to 6 are missing/],
  ['a removed first entry', 'DELETE FROM entries WHERE number = 1', 2, /entry 1 is missing/],
  ['reordered entries', reorderSql(5, 6), 5, /was changed/],
  ['a number below 1', 'UPDATE entries SET number = -1 WHERE number = 5', -1, /below 1/],
  ['a cut tail', `DELETE FROM entries WHERE number > 7`, 8, /is missing: inventory.json knows entries up to 10/],
  ['no entries', 'DELETE FROM entries', 1, /is missing/],
];

function reorderSql(one: number, other: number): string {
  return `UPDATE entries SET number = -1 WHERE number = ${one}; UPDATE entries SET number = ${one} WHERE number = ${other};
    UPDATE entries SET number = ${other} WHERE number = -1`;
}

test('finds nothing in an unchanged log', async (t) => {
  const { entries, end, lostEntries, problem } = await verifyAfter(t, () => {});
  assert.deepEqual([entries, end?.number, lostEntries, problem], [entryCount, entryCount, 0, null]);
});

for (const [what, sql, number, problem] of mutants) {
  test(`finds ${what}`, async (t) => {
    const found = await verifyAfter(t, (database) => database.exec(sql));
    assert.equal(found.problem?.number, number);
    assert.match(found.problem!.text, problem);
  });
}

/** Writes entries again with the right hashes of their new content. */
function rewrite(database: Database.Database, from: number, to: number): void {
  const rows = database
    .prepare<[number, number], AuditEntryId & { previousHash: string }>(
      `SELECT number, time AS timeMs, actor AS actorKind, actor_name AS actorName, action, subject, details,
         previous_hash AS previousHash FROM entries WHERE number BETWEEN ? AND ? ORDER BY number`,
    )
    .all(from, to);
  let previousHash = rows[0]!.previousHash;
  for (const row of rows) {
    const content = { ...row, ...(row.number === from && { subject: 'x' }), previousHash };
    const hash = hashEntry(content as never);
    const { subject } = content as unknown as { subject: string };
    database
      .prepare('UPDATE entries SET subject = ?, previous_hash = ?, hash = ? WHERE number = ?')
      .run(subject, previousHash, hash, row.number);
    previousHash = hash;
  }
}

test('finds an entry that was written again with a new hash, if later entries were not', async (t) => {
  const { problem } = await verifyAfter(t, (database) => rewrite(database, 5, 5));
  assert.equal(problem?.number, 6);
  assert.match(problem!.text, /has the hash of another entry/);
});

test('finds a log that was written again up to its end only by the entry that the inventory knows', async (t) => {
  const damage = (database: Database.Database) => rewrite(database, 5, entryCount);
  const { problem } = await verifyAfter(t, damage);
  assert.deepEqual([problem?.number, /is not the entry/.test(problem!.text)], [entryCount, true]);
  assert.equal((await verifyAfter(t, damage, { knows: false })).problem, null);
});

test('cannot find a cut tail without the inventory', async (t) => {
  const cut = (database: Database.Database) => database.exec('DELETE FROM entries WHERE number > 7');
  const { entries, problem } = await verifyAfter(t, cut, { knows: false });
  assert.deepEqual([entries, problem], [7, null]);
});

test('reads a long log in parts of bounded size', async (t) => {
  const path = auditLogPath(temporaryFolder(t));
  const log = new SqliteAuditLog(path, 1_000);
  t.after(() => log.close());
  const change = { timeMs: 1, actor: serviceActor, action: 'key.create', subject: 'key', details: {} } as const;
  log.append(Array.from({ length: bounds.auditEntriesPerRead * 2 }, () => change));
  const parts: number[] = [];
  const { entries } = await verifyAuditLog(log, { known: null, onEntriesRead: (count) => parts.push(count) });
  assert.deepEqual([entries, parts], [2_001, [1_000, 1_000, 1]]);
  await assert.rejects(verifyAuditLog(log, { known: null, signal: AbortSignal.abort() }), { name: 'AbortError' });
});
