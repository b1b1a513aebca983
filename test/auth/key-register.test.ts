import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import { isAccountName } from '../../src/auth/api-key.ts';
import { KeyFileError, keyFilePath, openKeyFile } from '../../src/auth/key-file.ts';
import { KeyRegistry } from '../../src/auth/key-registry.ts';
import { noLimitOverrides } from '../../src/auth/rate-limits.ts';
import { bounds } from '../../src/bounds.ts';
import { personalLoans } from '../../src/verticals/personal-loans/personal-loans.ts';
import { issueKey, noonMs, revokeKey, temporaryFolder } from './support.ts';

const lockAWhile = fileURLToPath(new URL('programs/lock-a-while.ts', import.meta.url));

test('an issued key is listed with all about it but the key', (t) => {
  const folder = temporaryFolder(t);
  const { key, issued } = issueKey(folder, {
    account: 'acme',
    mode: 'test',
    expiresAtMs: noonMs + 1,
    limits: { sessionsPerDay: 7 },
  });
  const register = KeyRegistry.openExisting(keyFilePath(folder));
  t.after(() => register.close());
  assert.deepEqual(register.list(), [issued]);
  assert.deepEqual(
    { ...issued, id: 'any' },
    {
      id: 'any',
      number: 1,
      account: 1,
      accountName: 'acme',
      vertical: 'personal-loans',
      mode: 'test',
      createdAtMs: noonMs,
      expiresAtMs: noonMs + 1,
      revokedAtMs: null,
      limits: { requestsPerMinute: null, analyticsPerMinute: null, sessionsPerDay: 7 },
    },
  );
  assert(!JSON.stringify(register.list()).includes(key.slice(-48)));
});

test('neither the key nor its digits are in any file of the folder', (t) => {
  const folder = temporaryFolder(t);
  const open = KeyRegistry.open(keyFilePath(folder));
  t.after(() => open.close());
  const { key } = issueKey(folder);
  const files = readdirSync(folder).map((name) => readFileSync(join(folder, name)));
  assert(files.length > 1, 'the write-ahead log should be among them');
  assert(files.every((content) => !content.includes(key) && !content.includes(Buffer.from(key.slice(-48), 'hex'))));
});

test('keys of one account name share its account number, another name has another', (t) => {
  const folder = temporaryFolder(t);
  const accounts = ['acme', 'other', 'acme'].map((account) => issueKey(folder, { account }).issued.account);
  assert.deepEqual(accounts, [1, 2, 1]);
});

test('key numbers are not handed out twice, even when the last key was deleted by hand', (t) => {
  const folder = temporaryFolder(t);
  issueKey(folder);
  const database = new Database(keyFilePath(folder));
  database.exec('DELETE FROM keys');
  database.close();
  assert.equal(issueKey(folder).issued.number, 2);
});

test('a revocation is told from a repeated one and from an unknown id, and keeps its time', (t) => {
  const folder = temporaryFolder(t);
  const { issued } = issueKey(folder);
  assert.equal(revokeKey(folder, issued.id, noonMs + 1), 'revoked');
  assert.equal(revokeKey(folder, issued.id, noonMs + 2), 'already_revoked');
  assert.equal(revokeKey(folder, 'key_ffffffffffff'), 'unknown');
  const register = KeyRegistry.openExisting(keyFilePath(folder));
  t.after(() => register.close());
  assert.equal(register.find(issued.id)?.revokedAtMs, noonMs + 1);
});

test('a key file that must exist is not created', (t) => {
  const folder = temporaryFolder(t);
  assert.throws(() => KeyRegistry.openExisting(keyFilePath(folder)), KeyFileError);
  assert.deepEqual(readdirSync(folder), []);
});

test('the key file and its folder are readable by their owner alone', (t) => {
  const folder = join(temporaryFolder(t), 'data');
  const register = KeyRegistry.open(keyFilePath(folder));
  t.after(() => register.close());
  assert.equal(statSync(folder).mode & 0o077, 0);
  for (const name of readdirSync(folder)) assert.equal(statSync(join(folder, name)).mode & 0o077, 0, name);
});

test('a file that is no database is refused in one line that names it', (t) => {
  const path = keyFilePath(temporaryFolder(t));
  writeFileSync(path, 'not a database, and long enough to be looked at as if it were one'.repeat(20));
  assert.throws(
    () => openKeyFile(path, 100),
    (error: unknown) => error instanceof KeyFileError && error.message.includes(path) && !error.message.includes('\n'),
  );
});

test('a key file of a newer version is refused and left alone', (t) => {
  const path = keyFilePath(temporaryFolder(t));
  const newer = new Database(path);
  newer.pragma('user_version = 99');
  newer.close();
  assert.throws(() => openKeyFile(path, 100), /newer version/);
});

test('a new key file waits for another process that is making it too', async (t) => {
  const path = keyFilePath(temporaryFolder(t));
  const other = spawn(process.execPath, [lockAWhile, path], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.after(() => other.kill('SIGKILL'));
  await once(other.stdout, 'data');
  openKeyFile(path, bounds.apiKeyCommandLockTimeoutMs).close();
  await once(other, 'exit');
});

test('a new key file that stays locked is given up, in one line that names it', (t) => {
  const path = keyFilePath(temporaryFolder(t));
  const other = new Database(path);
  t.after(() => other.close());
  other.exec('BEGIN IMMEDIATE');
  assert.throws(
    () => openKeyFile(path, 20),
    (error: unknown) => error instanceof KeyFileError && error.message.includes(path) && !error.message.includes('\n'),
  );
});

test('an account name is printable, not empty and not too long', () => {
  for (const name of ['a', 'Acme Loans, Inc.', 'Çelik & Söhne', 'x'.repeat(64)]) assert(isAccountName(name), name);
  for (const name of ['', ' ', ' a', 'a ', 'a\nb', 'a\u0000', 'a\u202eb', 'x'.repeat(65)]) {
    assert(!isAccountName(name), JSON.stringify(name));
  }
});

const issuable = {
  accountName: 'acme',
  vertical: personalLoans,
  mode: 'live',
  expiresAtMs: null,
  limits: noLimitOverrides,
} as const;

for (const [what, wrong] of [
  ['an account that cannot be named', { accountName: 'a\nb' }],
  ['an account whose name is no text', { accountName: 5 as never }],
  ['an unknown mode', { mode: 'prod' as never }],
  ['an expiry that is no moment', { expiresAtMs: Number.NaN }],
  ['an expiry no date can hold', { expiresAtMs: bounds.timestampMsMax + 1 }],
  ['an expiry in the past', { expiresAtMs: noonMs - 1 }],
  ['an expiry of this very moment', { expiresAtMs: noonMs }],
  ['no requests at all', { limits: { ...noLimitOverrides, requestsPerMinute: 0 } }],
  ['a fraction of a query', { limits: { ...noLimitOverrides, analyticsPerMinute: 1.5 } }],
  ['more sessions than can be counted', { limits: { ...noLimitOverrides, sessionsPerDay: bounds.limitPerDayMax + 1 } }],
  ['a limit that is no number', { limits: { ...noLimitOverrides, requestsPerMinute: '5' as never } }],
] as const) {
  test(`a key is not issued with ${what}, and nothing is written`, (t) => {
    const register = KeyRegistry.open(keyFilePath(temporaryFolder(t)));
    t.after(() => register.close());
    assert.throws(() => register.create({ ...issuable, ...wrong }, noonMs), RangeError);
    assert.deepEqual(register.list(), []);
  });
}
