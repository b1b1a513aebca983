import assert from 'node:assert/strict';
import { test } from 'node:test';
import Database from 'better-sqlite3';
import { serviceActor } from '../../src/audit/audit-log.ts';
import { auditLogPath, SqliteAuditLog } from '../../src/audit/sqlite-audit-log.ts';
import { bounds } from '../../src/bounds.ts';
import { assertFailed } from './run-marketplace.ts';
import { createKey, marketplaceOnFreshFolder } from './sample-data-folder.ts';

const hostileTexts = ['\u001b[2J\u0007', '\u202eevil', 'a\nb', '\u0000', '</script>'];

test('audit list prints hostile texts without control characters, as a table and as JSON', async (t) => {
  const { folder, run } = marketplaceOnFreshFolder(t);
  const log = new SqliteAuditLog(auditLogPath(folder), 1_000);
  for (const text of hostileTexts) {
    const change = { timeMs: 0, action: 'origin.allow', subject: text, details: { [text]: text } } as const;
    log.append([{ ...change, actor: { kind: 'command_line', name: text } }]);
  }
  log.close();
  const table = await run('audit');
  assert.deepEqual([table.code, table.stdout.split('\n').length], [0, hostileTexts.length + 3]);
  const { stdout } = await run('audit', 'list', '--json');
  for (const output of [table.stdout, stdout]) {
    assert.doesNotMatch(output, /(?!\n)[\p{Cc}\p{Cf}]/u);
    assert.ok(output.includes('\\u202eevil'));
  }
  const subjects = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).subject);
  assert.deepEqual(subjects, [...hostileTexts.toReversed(), 'audit log']);
});

test('audit list filters by action and time, and prints at most --limit entries', async (t) => {
  const { folder, run } = marketplaceOnFreshFolder(t);
  const log = new SqliteAuditLog(auditLogPath(folder), 1_000);
  const change = { actor: serviceActor, action: 'key.create', details: {} } as const;
  const entries = bounds.auditEntriesPerRead + 10;
  const timeOf = (index: number) => Date.UTC(2026, 0, 1) + index * 60_000;
  log.append(Array.from({ length: entries }, (_, i) => ({ ...change, timeMs: timeOf(i), subject: `key_${i}` })));
  log.append([{ ...change, timeMs: timeOf(entries), action: 'key.revoke', subject: 'key_1' }]);
  log.close();
  const subjects = async (...args: string[]) => {
    const { code, stdout, stderr } = await run('audit', '--json', ...args);
    assert.equal(code, 0, stderr);
    return stdout === ''
      ? []
      : stdout
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line).subject as string);
  };
  assert.equal((await subjects()).length, 50);
  const all = await subjects('--limit', '5000');
  assert.deepEqual([all.length, all[1], all.at(-1)], [entries + 2, `key_${entries - 1}`, 'audit log']);
  assert.deepEqual(await subjects('--action', 'key.revoke'), ['key_1']);
  assert.deepEqual(await subjects('--since', new Date(timeOf(entries - 1)).toISOString()), ['key_1', all[1]]);
  assert.deepEqual(await subjects('--since', '2027-01-01'), []);
  assertFailed(await run('audit', '--since', 'yesterday'), 2, /must be a date like/);
  assertFailed(await run('audit', '--action', 'key.crate'), 2, /Did you mean key\.create\?/);
});

test('audit verify names the first wrong entry, with exit code 3', async (t) => {
  const { folder, run } = marketplaceOnFreshFolder(t);
  assertFailed(await run('audit', 'verify'), 1, /there is no audit log at .*audit\.sqlite yet/);
  for (let i = 0; i < 3; i++) await createKey(folder);
  const whole = await run('audit', 'verify');
  assert.match(whole.stdout, /^whole: 4 entries\nentry 4 has the hash [0-9a-f]{64}\n$/);
  const database = new Database(auditLogPath(folder));
  database.exec("UPDATE entries SET actor_name = 'somebody else' WHERE number = 3");
  database.close();
  const damaged = await run('audit', 'verify');
  assert.equal(damaged.code, 3);
  assert.match(damaged.stdout, /^damaged behind these entries: 2 entries\n/);
  assert.match(damaged.stderr, /^marketplace: entry 3 was changed: its hash is not the hash of its content\n$/);
});
