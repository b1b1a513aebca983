import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import process from 'node:process';
import { describe, type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import Database from 'better-sqlite3';
import {
  type AuditChange,
  type AuditLog,
  AuditLogUnavailableError,
  hashEntry,
  serviceActor,
  zeroHash,
} from '../../src/audit/audit-log.ts';
import { auditLogPath, SqliteAuditLog } from '../../src/audit/sqlite-audit-log.ts';
import { verifyAuditLog } from '../../src/audit/verify-audit-log.ts';
import { bounds } from '../../src/bounds.ts';
import { runAfterTest } from '../support/run-after-test.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const startMs = Date.UTC(2026, 10, 1);

function change(more: Partial<AuditChange> = {}): AuditChange {
  return { timeMs: startMs, actor: serviceActor, action: 'key.create', subject: 'key_1', details: {}, ...more };
}

function open(t: TestContext, folder = temporaryFolder(t)): SqliteAuditLog {
  const log = new SqliteAuditLog(auditLogPath(folder), 1_000);
  runAfterTest(t, () => log.close());
  return log;
}

const everything = { limit: 1_000, beforeNumber: null, action: null, sinceMs: null };

/** Ways in which two callers reach one log. */
const adapters: Readonly<Record<string, (t: TestContext) => readonly [AuditLog, AuditLog]>> = {
  'one SQLite connection': (t) => {
    const log = open(t);
    return [log, log];
  },
  'two SQLite connections': (t) => {
    const folder = temporaryFolder(t);
    return [open(t, folder), open(t, folder)];
  },
};

for (const [name, openBoth] of Object.entries(adapters)) {
  describe(`an audit log through ${name}`, () => {
    test('numbers the entries, and each entry has the hash of the entry before', (t) => {
      const [log, other] = openBoth(t);
      const [first] = log.append([change({ subject: 'key_1' })]);
      const [second, third] = other.append([change({ subject: 'key_2' }), change({ subject: 'key_3' })]);
      const [fourth] = log.append([change({ subject: 'key_4' })]);
      const [created, ...others] = [...log.listEntries(everything)].reverse();
      assert.deepEqual(others, [first, second, third, fourth]);
      assert.deepEqual([created!.action, created!.previousHash], ['audit.create', zeroHash]);
      for (const [index, entry] of others.entries()) {
        const previous = [created!, ...others][index]!;
        assert.deepEqual([entry.number, entry.previousHash], [previous.number + 1, previous.hash]);
        assert.equal(entry.hash, hashEntry(entry));
      }
    });

    test('lists pages of entries, newest first, by action and time', (t) => {
      const [log, other] = openBoth(t);
      for (let i = 1; i <= 6; i++) {
        const action = i % 2 === 0 ? 'key.revoke' : 'key.create';
        log.append([change({ action, subject: `key_${i}`, timeMs: startMs + i })]);
      }
      const subjects = (query: object) =>
        other.listEntries({ ...everything, ...query }).map(({ subject }) => subject.replace('key_', ''));
      assert.deepEqual(subjects({}), ['6', '5', '4', '3', '2', '1', 'audit log']);
      assert.deepEqual(subjects({ limit: 2 }), ['6', '5']);
      assert.deepEqual(subjects({ limit: 2, beforeNumber: 6 }), ['4', '3']);
      assert.deepEqual(subjects({ action: 'key.revoke', beforeNumber: 7 }), ['4', '2']);
      assert.deepEqual(subjects({ sinceMs: startMs + 5 }), ['6', '5']);
      assert.deepEqual(subjects({ sinceMs: startMs + 7 }), []);
      assert.equal(other.findLastEntry('key.create', 'key_3')?.number, 4);
      assert.equal(other.findLastEntry('key.revoke', 'key_3'), null);
    });

    test('finds entries by time although the clock was set back', (t) => {
      const [log] = openBoth(t);
      for (const timeMs of [500, 100, 300]) log.append([change({ timeMs, subject: String(timeMs) })]);
      const found = log.listEntries({ ...everything, sinceMs: 200 });
      assert.deepEqual(
        found.map(({ subject }) => subject),
        ['300', '500', 'audit log'],
      );
    });

    test('stores hostile texts unchanged within bounds, so that the hashes stay valid', async (t) => {
      const [log, other] = openBoth(t);
      const hostile = ['\u0000\u001b[31m\n', '\u202e', "'; DROP TABLE entries; --", '\ud800', '💥'.repeat(500), ''];
      for (const text of hostile) {
        const details = { text: text.repeat(3), list: [text] };
        log.append([change({ subject: text, actor: { kind: 'command_line', name: text }, details })]);
      }
      log.append([change({ details: { text: 'x'.repeat(bounds.auditDetailsCharactersMax) } })]);
      const entries = other.listEntries(everything);
      for (const { subject, details } of entries) {
        assert.ok(subject.length <= bounds.auditTextCharactersMax + 3);
        assert.ok(details.length <= bounds.auditDetailsCharactersMax);
      }
      assert.match(entries[0]!.details, /^\{"omitted_characters":\d+\}$/);
      assert.equal(entries.at(-2)!.subject, hostile[0]);
      assert.equal((await verifyAuditLog(log as SqliteAuditLog, { known: null })).problem, null);
    });
  });
}

test('several processes append to one log at the same time, and the chain is whole', async (t) => {
  const folder = temporaryFolder(t);
  const program = fileURLToPath(new URL('programs/append-entries.ts', import.meta.url));
  const run = (name: string) => promisify(execFile)(process.execPath, [program, folder, name, '25']);
  await Promise.all(['a', 'b', 'c', 'd'].map(run));
  const { entries, problem } = await verifyAuditLog(open(t, folder), { known: null });
  assert.deepEqual([entries, problem], [101, null]);
});

test('throws AuditLogUnavailableError while another process has locked the file, and writes nothing', (t) => {
  const folder = temporaryFolder(t);
  open(t, folder).append([change()]);
  const log = new SqliteAuditLog(auditLogPath(folder), 20);
  runAfterTest(t, () => log.close());
  const other = new Database(auditLogPath(folder));
  runAfterTest(t, () => other.close());
  other.exec('BEGIN IMMEDIATE');
  assert.throws(() => log.append([change()]), AuditLogUnavailableError);
  other.exec('ROLLBACK');
  assert.equal(log.readEnd()?.number, 2);
  assert.equal(log.append([change()])[0]!.number, 3);
});

test('the hash of an entry is the one of the example in the operating guide', () => {
  const guide = readFileSync(new URL('../../docs/operating.md', import.meta.url), 'utf8');
  const [, text, hash] = /```text\n(\[1,.*\])\n([0-9a-f]{64})\n```/.exec(guide)!;
  const [number, timeMs, actorKind, actorName, action, subject, details, previousHash] = JSON.parse(text!);
  const content = { number, timeMs, actorKind, actorName, action, subject, details, previousHash };
  assert.equal(hashEntry(content), hash);
});
