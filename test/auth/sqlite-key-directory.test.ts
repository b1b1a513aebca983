import assert from 'node:assert/strict';
import { test } from 'node:test';
import Database from 'better-sqlite3';
import { generateApiKey, hashApiKey } from '../../src/auth/api-key.ts';
import { keyFilePath } from '../../src/auth/key-file.ts';
import { bounds } from '../../src/bounds.ts';
import { runMarketplace } from '../cli/run-marketplace.ts';
import { changeOrigins, issueKey, ManualClock, noonMs, openDirectory, revokeKey, temporaryFolder } from './support.ts';

test('finds a key by its hash', (t) => {
  const folder = temporaryFolder(t);
  const { key, issued } = issueKey(folder, { mode: 'test', expiresAtMs: noonMs + 1, limits: { requestsPerMinute: 9 } });
  const directory = openDirectory(t, folder, new ManualClock());
  assert.deepEqual(directory.findByHash(hashApiKey(key)), {
    number: issued.number,
    account: issued.account,
    vertical: 'personal-loans',
    mode: 'test',
    expiresAtMs: noonMs + 1,
    limits: { requestsPerMinute: 9, analyticsPerMinute: null, sessionsPerDay: null },
  });
});

test('returns Infinity for a key without an expiry', (t) => {
  const folder = temporaryFolder(t);
  const { key } = issueKey(folder);
  const directory = openDirectory(t, folder, new ManualClock());
  assert.equal(directory.findByHash(hashApiKey(key))?.expiresAtMs, Number.POSITIVE_INFINITY);
});

test('does not find an unknown or revoked key', (t) => {
  const folder = temporaryFolder(t);
  const { key, issued } = issueKey(folder);
  revokeKey(folder, issued.id);
  const directory = openDirectory(t, folder, new ManualClock());
  assert.equal(directory.findByHash(hashApiKey(key)), undefined);
  assert.equal(directory.findByHash(hashApiKey(generateApiKey('svc_pl_', 'live'))), undefined);
});

test('finds a new key of the command line at once', async (t) => {
  const folder = temporaryFolder(t);
  const directory = openDirectory(t, folder, new ManualClock());
  const created = await runMarketplace(
    ['keys', 'create', '--account', 'acme', '--vertical', 'personal-loans', '--mode', 'live', '--raw'],
    { SVC_DATA_DIR: folder },
  );
  assert.equal(created.code, 0, created.stderr);
  assert.equal(directory.findByHash(hashApiKey(created.stdout.trim()))?.account, 1);
});

test('drops a key revoked on the command line at the next poll', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const folder = temporaryFolder(t);
  const { key, issued } = issueKey(folder);
  const directory = openDirectory(t, folder, new ManualClock());
  const revoked = await runMarketplace(['keys', 'revoke', issued.id], { SVC_DATA_DIR: folder });
  assert.equal(revoked.code, 0, revoked.stderr);
  assert.notEqual(directory.findByHash(hashApiKey(key)), undefined);
  t.mock.timers.tick(bounds.apiKeyPollIntervalMs);
  assert.equal(directory.findByHash(hashApiKey(key)), undefined);
});

test('limits the polls caused by unknown keys', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const folder = temporaryFolder(t);
  const clock = new ManualClock();
  const directory = openDirectory(t, folder, clock);
  assert.equal(directory.findByHash('nobody'), undefined);
  const { key } = issueKey(folder);
  clock.pass(bounds.unknownApiKeyPollIntervalMs - 1);
  assert.equal(directory.findByHash(hashApiKey(key)), undefined);
  clock.pass(1);
  assert.notEqual(directory.findByHash(hashApiKey(key)), undefined);
});

test('keeps known keys while the file is unreadable, and reports error and recovery once', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const folder = temporaryFolder(t);
  const { key } = issueKey(folder);
  const errors: unknown[] = [];
  let recovered = 0;
  const directory = openDirectory(
    t,
    folder,
    new ManualClock(),
    (error) => errors.push(error),
    () => recovered++,
  );
  const otherProgram = new Database(keyFilePath(folder));
  otherProgram.exec('ALTER TABLE keys RENAME TO hidden');
  t.mock.timers.tick(3 * bounds.apiKeyPollIntervalMs);
  assert.notEqual(directory.findByHash(hashApiKey(key)), undefined);
  assert.deepEqual([errors.length, recovered], [1, 0]);

  otherProgram.exec('ALTER TABLE hidden RENAME TO keys; UPDATE keys SET revoked = 1');
  otherProgram.close();
  t.mock.timers.tick(2 * bounds.apiKeyPollIntervalMs);
  assert.equal(directory.findByHash(hashApiKey(key)), undefined);
  assert.deepEqual([errors.length, recovered], [1, 1]);
});

test('returns key ids and account names, from its cache if the file is unreadable', (t) => {
  const folder = temporaryFolder(t);
  const { issued } = issueKey(folder, { account: 'acme' });
  const other = issueKey(folder, { account: 'other' }).issued;
  const directory = openDirectory(t, folder, new ManualClock());
  revokeKey(folder, issued.id);
  const caller = { account: issued.account, keyNumber: issued.number };
  assert.deepEqual(directory.callerNames(caller), { key: issued.id, account: 'acme' });
  assert.deepEqual(directory.callerNames({ account: other.account }), { key: undefined, account: 'other' });
  const otherProgram = new Database(keyFilePath(folder));
  otherProgram.exec('ALTER TABLE keys RENAME TO hidden');
  otherProgram.close();
  assert.deepEqual(directory.callerNames(caller), { key: issued.id, account: 'acme' });
  assert.deepEqual(directory.callerNames({ ...caller, keyNumber: other.number }), { key: undefined, account: 'acme' });
});

test('reads many changes in several event-loop turns', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const folder = temporaryFolder(t);
  const { key, issued } = issueKey(folder);
  const directory = openDirectory(t, folder, new ManualClock());
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
  while (directory.findByHash(hashApiKey(key)) !== undefined) {
    await new Promise(setImmediate);
    sizes.push(directory.size);
  }
  assert.deepEqual(sizes, [1, 2].map((turn) => 1 + turn * bounds.apiKeyChangesPerTurn).concat(changes - 1));
});

test('drops a deleted or replaced key at the next poll', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const folder = temporaryFolder(t);
  const [deleted, replaced] = [issueKey(folder), issueKey(folder)];
  const directory = openDirectory(t, folder, new ManualClock());
  const another = hashApiKey(generateApiKey('svc_pl_', 'live'));
  const operator = new Database(keyFilePath(folder));
  operator.prepare('DELETE FROM keys WHERE id = ?').run(deleted.issued.id);
  operator.prepare('UPDATE keys SET hash = ? WHERE id = ?').run(Buffer.from(another, 'latin1'), replaced.issued.id);
  operator.close();
  t.mock.timers.tick(bounds.apiKeyPollIntervalMs);
  assert.equal(directory.findByHash(hashApiKey(deleted.key)), undefined);
  assert.equal(directory.findByHash(hashApiKey(replaced.key)), undefined);
  assert.equal(directory.findByHash(another)?.number, replaced.issued.number);
});

test('returns the origins of an account in order', (t) => {
  const folder = temporaryFolder(t);
  const { account } = issueKey(folder).issued;
  const { account: other } = issueKey(folder, { account: 'other' }).issued;
  changeOrigins(folder, (registry) => {
    registry.allow('acme', ['https://b.example', 'https://a.example']);
    registry.allow('other', ['https://c.example']);
  });
  const { origins } = openDirectory(t, folder, new ManualClock());
  assert.deepEqual(origins.forAccount(account), ['https://a.example', 'https://b.example']);
  assert.deepEqual(origins.forAccount(other), ['https://c.example']);
  assert.deepEqual([origins.forAccount(0), origins.forAccount(3)], [[], []]);
});

test('applies changed origins at the next poll, and returns the same array until then', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const folder = temporaryFolder(t);
  const { account } = issueKey(folder).issued;
  const { account: other } = issueKey(folder, { account: 'other' }).issued;
  const { origins } = openDirectory(t, folder, new ManualClock());
  const change = async (...args: string[]) => {
    const { code, stderr } = await runMarketplace(['origins', ...args], { SVC_DATA_DIR: folder });
    assert.equal(code, 0, stderr);
    t.mock.timers.tick(bounds.apiKeyPollIntervalMs);
  };
  assert.deepEqual(origins.forAccount(account), []);
  changeOrigins(folder, (registry) => registry.allow('other', ['https://c.example']));
  t.mock.timers.tick(bounds.apiKeyPollIntervalMs);
  const ofOther = origins.forAccount(other);
  await change('allow', '--account', 'acme', 'https://a.example', 'https://b.example');
  const allowed = origins.forAccount(account);
  assert.deepEqual(allowed, ['https://a.example', 'https://b.example']);
  t.mock.timers.tick(bounds.apiKeyPollIntervalMs);
  assert.equal(origins.forAccount(account), allowed);
  await change('remove', '--account', 'acme', 'https://a.example');
  assert.deepEqual(origins.forAccount(account), ['https://b.example']);
  assert.equal(origins.forAccount(other), ofOther);
});

test('reads changes at once on refresh', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const folder = temporaryFolder(t);
  const { account } = issueKey(folder).issued;
  const directory = openDirectory(t, folder, new ManualClock());
  changeOrigins(folder, (registry) => registry.allow('acme', ['https://a.example']));
  directory.refresh();
  assert.deepEqual(directory.origins.forAccount(account), ['https://a.example']);
});

test('keeps known origins while the file is unreadable', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const folder = temporaryFolder(t);
  const { key, issued } = issueKey(folder);
  changeOrigins(folder, (registry) => registry.allow('acme', ['https://a.example']));
  const errors: unknown[] = [];
  const directory = openDirectory(t, folder, new ManualClock(), (error) => errors.push(error));
  const otherProgram = new Database(keyFilePath(folder));
  otherProgram.exec('ALTER TABLE embed_origins RENAME TO hidden; DELETE FROM hidden');
  revokeKey(folder, issued.id);
  t.mock.timers.tick(2 * bounds.apiKeyPollIntervalMs);
  assert.notEqual(directory.findByHash(hashApiKey(key)), undefined);
  assert.deepEqual(directory.origins.forAccount(issued.account), ['https://a.example']);
  assert.equal(errors.length, 1);

  otherProgram.exec('ALTER TABLE hidden RENAME TO embed_origins');
  otherProgram.close();
  t.mock.timers.tick(bounds.apiKeyPollIntervalMs);
  assert.equal(directory.findByHash(hashApiKey(key)), undefined);
  assert.deepEqual(directory.origins.forAccount(issued.account), []);
  assert.equal(errors.length, 1);
});

test('can be closed twice', (t) => {
  const directory = openDirectory(t, temporaryFolder(t), new ManualClock());
  directory.close();
  directory.close();
});
