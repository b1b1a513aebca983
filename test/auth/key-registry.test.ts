import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import Database from 'better-sqlite3';
import { KeyFileError, keyFilePath } from '../../src/auth/key-file.ts';
import { KeyRegistry } from '../../src/auth/key-registry.ts';
import { defaultLimitOverrides } from '../../src/auth/rate-limits.ts';
import { bounds } from '../../src/bounds.ts';
import { personalLoans } from '../../src/verticals/personal-loans/personal-loans.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { issueKey, noonMs, registerShards, revokeKey, unrecorded } from './support.ts';

test('the list of keys does not contain the text of the keys', (t) => {
  const folder = temporaryFolder(t);
  const { key, issued } = issueKey(folder, {
    account: 'acme',
    mode: 'test',
    scope: 'analytics',
    expiresAtMs: noonMs + 1,
    limits: { sessionsPerDay: 7 },
  });
  const registry = new KeyRegistry(keyFilePath(folder), { mustExist: true });
  t.after(() => registry.close());
  assert.deepEqual(registry.listKeys(), [issued]);
  assert.deepEqual(
    { ...issued, id: 'any' },
    {
      id: 'any',
      number: 1,
      account: 1,
      accountName: 'acme',
      vertical: 'personal-loans',
      mode: 'test',
      scope: 'analytics',
      createdAtMs: noonMs,
      expiresAtMs: noonMs + 1,
      revokedAtMs: null,
      limits: { requestsPerMinute: null, analyticsPerMinute: null, sessionsPerDay: 7 },
    },
  );
  assert(!JSON.stringify(registry.listKeys()).includes(key.slice(-48)));
});

test('stores an API key neither as text nor as hexadecimal digits', (t) => {
  const folder = temporaryFolder(t);
  const open = new KeyRegistry(keyFilePath(folder));
  t.after(() => open.close());
  const { key } = issueKey(folder);
  const files = readdirSync(folder).map((name) => readFileSync(join(folder, name)));
  assert(files.length > 1, 'no write-ahead log');
  assert(files.every((content) => !content.includes(key) && !content.includes(Buffer.from(key.slice(-48), 'hex'))));
});

test('two API keys with the same account name get the same account number', (t) => {
  const folder = temporaryFolder(t);
  const accounts = ['acme', 'other', 'acme'].map((account) => issueKey(folder, { account }).issued.account);
  assert.deepEqual(accounts, [1, 2, 1]);
});

test('a new account gets a number of the shard with the fewest accounts, and of the lowest of these', (t) => {
  const folder = temporaryFolder(t);
  const create = (name: string) => issueKey(folder, { account: name }).issued.account;
  assert.deepEqual([create('a'), create('b')], [1, 2]);
  registerShards(keyFilePath(folder), 3);
  assert.deepEqual(['c', 'd', 'e', 'f', 'g'].map(create), [0x1_0001, 0x2_0001, 0x1_0002, 0x2_0002, 3]);
  const database = new Database(keyFilePath(folder));
  t.after(() => database.close());
  // Shard 2 has one account, because another one moved to shard 1. The placement of a single vertical and mode does not count.
  database.exec(`INSERT INTO placements VALUES (${0x2_0001}, NULL, 1), (${0x2_0002}, 2, 1)`);
  assert.deepEqual(['h', 'i', 'j'].map(create), [0x2_0003, 0x2_0004, 4]);
});

test('a new account gets no number of a shard whose numbers are used up, and fails if there is no other shard', (t) => {
  const folder = temporaryFolder(t);
  registerShards(keyFilePath(folder), 2);
  const database = new Database(keyFilePath(folder));
  t.after(() => database.close());
  database.exec(`UPDATE shards SET last_account = ${0xfffe} WHERE number = 0`);
  const create = (name: string) => issueKey(folder, { account: name }).issued.account;
  assert.deepEqual(['a', 'b', 'c'].map(create), [0xffff, 0x1_0001, 0x1_0002]);
  database.exec(`UPDATE shards SET last_account = ${0x1_ffff} WHERE number = 1`);
  assert.throws(() => create('d'), KeyFileError);
  assert.equal(create('a'), 0xffff);
});

test('does not reuse the key number of a deleted key', (t) => {
  const folder = temporaryFolder(t);
  issueKey(folder);
  const database = new Database(keyFilePath(folder));
  database.exec('DELETE FROM keys');
  database.close();
  assert.equal(issueKey(folder).issued.number, 2);
});

test('revoking an API key again does not change the time of the first revocation', (t) => {
  const folder = temporaryFolder(t);
  const { issued } = issueKey(folder);
  assert.equal(revokeKey(folder, issued.id, noonMs + 1), 'revoked');
  assert.equal(revokeKey(folder, issued.id, noonMs + 2), 'already_revoked');
  assert.equal(revokeKey(folder, 'key_ffffffffffff'), 'unknown');
  const registry = new KeyRegistry(keyFilePath(folder), { mustExist: true });
  t.after(() => registry.close());
  assert.equal(registry.find(issued.id)?.revokedAtMs, noonMs + 1);
});

const validKey = {
  accountName: 'acme',
  vertical: personalLoans,
  mode: 'live',
  scope: 'full',
  expiresAtMs: null,
  limits: defaultLimitOverrides,
} as const;

test('rejects a new key with an invalid property', (t) => {
  const registry = new KeyRegistry(keyFilePath(temporaryFolder(t)));
  t.after(() => registry.close());
  for (const member of [
    ...['', 'a\nb', ' a', 'a'.repeat(bounds.accountNameCharactersMax + 1), 5].map((accountName) => ({ accountName })),
    { mode: 'prod' },
    ...['read', '', 'toString', null, undefined, ['full']].map((scope) => ({ scope })),
    ...[Number.NaN, bounds.timestampMsMax + 1, noonMs - 1, noonMs].map((expiresAtMs) => ({ expiresAtMs })),
    ...[0, 1.5, '5', bounds.limitPerMinuteMax + 1].map((requestsPerMinute) => ({ limits: { requestsPerMinute } })),
    { limits: { sessionsPerDay: bounds.limitPerDayMax + 1 } },
  ]) {
    const limits = { ...defaultLimitOverrides, ...('limits' in member && member.limits) };
    const newKey = { ...validKey, ...member, limits } as never;
    assert.throws(() => registry.create(newKey, noonMs, unrecorded), RangeError, JSON.stringify(member));
  }
  assert.deepEqual(registry.listKeys(), []);
});
