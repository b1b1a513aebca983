import assert from 'node:assert/strict';
import { test } from 'node:test';
import Database from 'better-sqlite3';
import { hashApiKey, newApiKey } from '../../src/access/api-key.ts';
import { keyFilePath } from '../../src/access/key-file.ts';
import { bounds } from '../../src/bounds.ts';
import { runMarketplace } from '../cli/run-marketplace.ts';
import { issueKey, ManualClock, noonMs, openDirectory, revokeKey, temporaryFolder } from './support.ts';

test('a key of the file is found by its hash, with all that admission needs', (t) => {
  const folder = temporaryFolder(t);
  const { key, issued } = issueKey(folder, { mode: 'test', expiresAtMs: noonMs + 1, limits: { requestsPerMinute: 9 } });
  const directory = openDirectory(t, folder, new ManualClock());
  assert.deepEqual(directory.find(hashApiKey(key)), {
    number: issued.number,
    account: issued.account,
    vertical: 'personal-loans',
    mode: 'test',
    expiresAtMs: noonMs + 1,
    limits: { requestsPerMinute: 9, analyticsPerMinute: null, sessionsPerDay: null },
  });
});

test('a key without an expiry never expires', (t) => {
  const folder = temporaryFolder(t);
  const { key } = issueKey(folder);
  const directory = openDirectory(t, folder, new ManualClock());
  assert.equal(directory.find(hashApiKey(key))?.expiresAtMs, Number.POSITIVE_INFINITY);
});

test('an unknown and a revoked key are not found', (t) => {
  const folder = temporaryFolder(t);
  const { key, issued } = issueKey(folder);
  revokeKey(folder, issued.id);
  const directory = openDirectory(t, folder, new ManualClock());
  assert.equal(directory.find(hashApiKey(key)), undefined);
  assert.equal(directory.find(hashApiKey(newApiKey('svc_pl_', 'live'))), undefined);
});

test('a key that the command line creates while the directory is open works at once', async (t) => {
  const folder = temporaryFolder(t);
  const directory = openDirectory(t, folder, new ManualClock());
  const created = await runMarketplace(
    ['keys', 'create', '--account', 'acme', '--vertical', 'personal-loans', '--mode', 'live', '--raw'],
    { SVC_DATA_DIR: folder },
  );
  assert.equal(created.code, 0, created.stderr);
  assert.equal(directory.find(hashApiKey(created.stdout.trim()))?.account, 1);
});

test('a key that the command line revokes is gone after the next poll', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const folder = temporaryFolder(t);
  const { key, issued } = issueKey(folder);
  const directory = openDirectory(t, folder, new ManualClock());
  const revoked = await runMarketplace(['keys', 'revoke', issued.id], { SVC_DATA_DIR: folder });
  assert.equal(revoked.code, 0, revoked.stderr);
  assert.notEqual(directory.find(hashApiKey(key)), undefined);
  t.mock.timers.tick(bounds.keyPollMs);
  assert.equal(directory.find(hashApiKey(key)), undefined);
});

test('unknown keys make it look for changes, but not more often than the bound', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const folder = temporaryFolder(t);
  const clock = new ManualClock();
  const directory = openDirectory(t, folder, clock);
  assert.equal(directory.find('nobody'), undefined);
  const { key } = issueKey(folder);
  clock.pass(bounds.keyMissPollMs - 1);
  assert.equal(directory.find(hashApiKey(key)), undefined);
  clock.pass(1);
  assert.notEqual(directory.find(hashApiKey(key)), undefined);
});

test('a file that cannot be read leaves the known keys working, and is reported once', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const folder = temporaryFolder(t);
  const { key } = issueKey(folder);
  const faults: unknown[] = [];
  const directory = openDirectory(t, folder, new ManualClock(), (fault) => faults.push(fault));
  const vandal = new Database(keyFilePath(folder));
  vandal.exec('ALTER TABLE keys RENAME TO hidden');
  t.mock.timers.tick(3 * bounds.keyPollMs);
  assert.notEqual(directory.find(hashApiKey(key)), undefined);
  assert.equal(faults.length, 1);

  vandal.exec('ALTER TABLE hidden RENAME TO keys; UPDATE keys SET revoked = 1');
  vandal.close();
  t.mock.timers.tick(bounds.keyPollMs);
  assert.equal(directory.find(hashApiKey(key)), undefined);
  assert.equal(faults.length, 1);
});

test('closing twice is once', (t) => {
  const directory = openDirectory(t, temporaryFolder(t), new ManualClock());
  directory.close();
  directory.close();
});
