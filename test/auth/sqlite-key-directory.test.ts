import assert from 'node:assert/strict';
import { test } from 'node:test';
import Database from 'better-sqlite3';
import { generateApiKey, hashApiKey } from '../../src/auth/api-key.ts';
import { keyFilePath, registerShard } from '../../src/auth/key-file.ts';
import { bounds } from '../../src/bounds.ts';
import { encodeVerticalAndMode } from '../../src/ids/sub-id.ts';
import { personalLoans } from '../../src/verticals/personal-loans/personal-loans.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { changeOrigins, issueKey, noonMs, openDirectory, revokeKey, unrecorded } from './support.ts';

test('finds a key by its hash, and returns nothing for an unknown or revoked key', (t) => {
  const folder = temporaryFolder(t);
  const { key, issued } = issueKey(folder, { mode: 'test', expiresAtMs: noonMs + 1, limits: { requestsPerMinute: 9 } });
  const forever = issueKey(folder);
  const revoked = issueKey(folder);
  revokeKey(folder, revoked.issued.id);
  const directory = openDirectory(t, folder);
  assert.deepEqual(directory.findKeyByHash(hashApiKey(key)), {
    number: issued.number,
    account: issued.account,
    vertical: 'personal-loans',
    mode: 'test',
    scope: 'full',
    expiresAtMs: noonMs + 1,
    limits: { requestsPerMinute: 9, analyticsPerMinute: null, sessionsPerDay: null },
  });
  assert.equal(directory.findKeyByHash(hashApiKey(forever.key))?.expiresAtMs, Number.POSITIVE_INFINITY);
  for (const other of [revoked.key, generateApiKey(personalLoans, 'live', 1)]) {
    assert.equal(directory.findKeyByHash(hashApiKey(other)), undefined);
  }
  directory.close();
});

test('finds a new key immediately, and rejects a revoked, deleted or replaced key from the next poll on', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const folder = temporaryFolder(t);
  const directory = openDirectory(t, folder);
  const [revoked, deleted, replaced] = [issueKey(folder), issueKey(folder), issueKey(folder)];
  const find = ({ key }: { readonly key: string }) => directory.findKeyByHash(hashApiKey(key));
  for (const each of [revoked, deleted, replaced]) assert.equal(find(each)?.number, each.issued.number);
  const another = hashApiKey(generateApiKey(personalLoans, 'live', 1));
  revokeKey(folder, revoked.issued.id);
  const operator = new Database(keyFilePath(folder));
  operator.prepare('DELETE FROM keys WHERE id = ?').run(deleted.issued.id);
  operator.prepare('UPDATE keys SET hash = ? WHERE id = ?').run(Buffer.from(another, 'latin1'), replaced.issued.id);
  operator.close();
  assert.notEqual(find(revoked), undefined);
  t.mock.timers.tick(bounds.apiKeyPollIntervalMs);
  assert.deepEqual([revoked, deleted, replaced].map(find), [undefined, undefined, undefined]);
  assert.equal(directory.findKeyByHash(another)?.number, replaced.issued.number);
});

test('uses cached keys and origins while the key file is unreadable, and reports error and recovery once', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  for (const table of ['keys', 'embed_origins']) {
    const folder = temporaryFolder(t);
    const { key, issued } = issueKey(folder);
    changeOrigins(folder, (registry) => registry.allowOrigins('acme', ['https://a.example'], unrecorded));
    const otherProgram = new Database(keyFilePath(folder));
    t.after(() => otherProgram.close());
    const errors: unknown[] = [];
    let recovered = 0;
    const directory = openDirectory(t, folder, {
      onReadError: (error) => errors.push(error),
      onRecovered: () => recovered++,
    });
    const origins = () => directory.findOrigins(issued.account);
    otherProgram.exec(`ALTER TABLE ${table} RENAME TO hidden; UPDATE hidden SET account = account`);
    t.mock.timers.tick(3 * bounds.apiKeyPollIntervalMs);
    assert.notEqual(directory.findKeyByHash(hashApiKey(key)), undefined);
    assert.deepEqual(origins(), ['https://a.example']);
    assert.deepEqual([errors.length, recovered], [1, 0]);

    otherProgram.exec(`ALTER TABLE hidden RENAME TO ${table}; UPDATE keys SET revoked = 1; DELETE FROM embed_origins`);
    t.mock.timers.tick(2 * bounds.apiKeyPollIntervalMs);
    assert.deepEqual([errors.length, recovered, origins()], [1, 1, []]);
    assert.equal(directory.findKeyByHash(hashApiKey(key)), undefined);
    directory.close();
  }
});

test('returns sorted origins, and returns the same array until a poll finds a change', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const folder = temporaryFolder(t);
  const [acme, other] = ['acme', 'other'].map((account) => issueKey(folder, { account }).issued.account);
  const directory = openDirectory(t, folder);
  const change = (apply: Parameters<typeof changeOrigins>[1]) => {
    changeOrigins(folder, apply);
    t.mock.timers.tick(bounds.apiKeyPollIntervalMs);
  };
  assert.deepEqual([directory.findOrigins(acme!), directory.findOrigins(0)], [[], []]);
  change((registry) => registry.allowOrigins('other', ['https://c.example'], unrecorded));
  const ofOther = directory.findOrigins(other!);
  change((registry) => registry.allowOrigins('acme', ['https://b.example', 'https://a.example'], unrecorded));
  const allowed = directory.findOrigins(acme!);
  assert.deepEqual(allowed, ['https://a.example', 'https://b.example']);
  t.mock.timers.tick(bounds.apiKeyPollIntervalMs);
  assert.equal(directory.findOrigins(acme!), allowed);
  change((registry) => registry.removeOrigins('acme', ['https://a.example'], unrecorded));
  assert.deepEqual(directory.findOrigins(acme!), ['https://b.example']);
  assert.equal(directory.findOrigins(other!), ofOther);
});

test('finds the shard of an account by its number, unless a placement names another shard', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const folder = temporaryFolder(t);
  for (const shard of [0, 1, 2, 0x8000]) registerShard(keyFilePath(folder), shard);
  const [acme] = ['acme', 'other'].map((account) => issueKey(folder, { account }).issued.account);
  const directory = openDirectory(t, folder);
  const operator = new Database(keyFilePath(folder));
  t.after(() => operator.close());
  const live = encodeVerticalAndMode(personalLoans.number, 'live');
  const found = () => [
    directory.findShard(acme!, live),
    directory.findShard(acme!, live + 1),
    directory.findShard(0x8000_0001, live),
  ];
  const foundAfter = (sql: string) => {
    operator.exec(sql);
    t.mock.timers.tick(bounds.apiKeyPollIntervalMs);
    return found();
  };
  assert.deepEqual(found(), [0, 0, 0x8000]);
  assert.deepEqual(foundAfter(`INSERT INTO placements VALUES (${acme}, ${live}, 2)`), [2, 0, 0x8000]);
  assert.deepEqual(foundAfter(`INSERT INTO placements VALUES (${acme}, NULL, 1)`), [2, 1, 0x8000]);
  assert.throws(() => operator.exec(`INSERT INTO placements VALUES (${acme}, NULL, 2)`), /UNIQUE/);
  assert.deepEqual(foundAfter('UPDATE placements SET shard = 0 WHERE vertical_and_mode IS NOT NULL'), [0, 1, 0x8000]);
  const restarted = openDirectory(t, folder);
  assert.deepEqual([restarted.findShard(acme!, live), restarted.findShard(acme!, live + 1)], [0, 1]);
  assert.deepEqual(foundAfter('DELETE FROM placements'), [0, 0, 0x8000]);
});

test('limits how often an unknown key causes a poll of the key file', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const folder = temporaryFolder(t);
  const clock = new ManualClock();
  const directory = openDirectory(t, folder, { clock });
  assert.equal(directory.findKeyByHash('nobody'), undefined);
  const { key } = issueKey(folder);
  clock.advance(bounds.unknownApiKeyPollIntervalMs - 1);
  assert.equal(directory.findKeyByHash(hashApiKey(key)), undefined);
  clock.advance(1);
  assert.notEqual(directory.findKeyByHash(hashApiKey(key)), undefined);
});

test('returns cached key ids and account names after the key file becomes unreadable', (t) => {
  const folder = temporaryFolder(t);
  const { issued } = issueKey(folder, { account: 'acme' });
  const other = issueKey(folder, { account: 'other' }).issued;
  const directory = openDirectory(t, folder);
  revokeKey(folder, issued.id);
  const caller = { account: issued.account, keyNumber: issued.number };
  assert.deepEqual(directory.findAccountAndKeyName(caller), { key: issued.id, account: 'acme' });
  assert.deepEqual(directory.findAccountAndKeyName({ account: other.account }), { key: undefined, account: 'other' });
  const otherProgram = new Database(keyFilePath(folder));
  otherProgram.exec('ALTER TABLE keys RENAME TO hidden');
  otherProgram.close();
  assert.deepEqual(directory.findAccountAndKeyName(caller), { key: issued.id, account: 'acme' });
  assert.deepEqual(directory.findAccountAndKeyName({ ...caller, keyNumber: other.number }), {
    key: undefined,
    account: 'acme',
  });
});

test('reads many key changes over several turns of the event loop', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const folder = temporaryFolder(t);
  const { key, issued } = issueKey(folder);
  const directory = openDirectory(t, folder);
  const others = new Database(keyFilePath(folder));
  t.after(() => others.close());
  const changes = 2 * bounds.apiKeyChangesPerTurn + 1;
  others.exec(`
    INSERT INTO keys (id, account, vertical, mode, hash, created)
    WITH RECURSIVE each (n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM each WHERE n < ${changes - 1})
    SELECT n, account, vertical, mode, randomblob(32), created FROM each, keys WHERE id = '${issued.id}';
    UPDATE keys SET revoked = 1 WHERE id = '${issued.id}';
  `);
  t.mock.timers.tick(bounds.apiKeyPollIntervalMs);
  const sizes = [directory.size];
  while (directory.findKeyByHash(hashApiKey(key)) !== undefined) {
    await new Promise(setImmediate);
    sizes.push(directory.size);
  }
  assert.deepEqual(sizes, [1, 2].map((turn) => 1 + turn * bounds.apiKeyChangesPerTurn).concat(changes - 1));
});
