import assert from 'node:assert/strict';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
} from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { copyKeyFile, keyFilePath, readKeyFileNumbers } from '../../src/auth/key-file.ts';
import { shardDataDir } from '../../src/files/data-paths.ts';
import { ShardGroup } from '../support/shard-group.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { runMarketplace } from './run-marketplace.ts';

const tagOfShard = ['tag-0', 'tag-1'];

/** Starts two shards, each with one account that has two sessions. `onFirstKey` is called before the second account is created. */
async function startShards(t: TestContext, onFirstKey: (keyFile: string) => unknown = () => {}) {
  const group = await ShardGroup.start(t, 2);
  const run = (...args: string[]) => runMarketplace(args, { SVC_DATA_DIR: group.rootDir });
  const accounts: string[] = [];
  const keys: string[] = [];
  for (const [shard, referrer_tag] of tagOfShard.entries()) {
    const key = group.issueKey(shard);
    if (shard === 0) await onFirstKey(keyFilePath(group.rootDir));
    const caller = group.caller(key, shard);
    for (let count = 0; count < 2; count++) await caller.createSession(referrer_tag);
    await caller.summary({ referrer_tag });
    keys.push(key);
    accounts.push(`account ${shard + 1}`);
  }
  return { group, run, accounts, keys };
}

const ledgerOf = (rootDir: string, shard: number) => join(shardDataDir(rootDir, shard), 'ledger');

/** Reads the JSON values that a command printed one after the other. */
const parseAll = (text: string) => text.split(/\n(?=[{[])/).map((value) => JSON.parse(value));

test('commands read the files of all shards while the shards run', async (t) => {
  const { group, run, accounts } = await startShards(t);
  for (const [shard, account] of accounts.entries()) {
    const tags = await run('tags', '--account', account, '--json');
    assert.deepEqual(
      parseAll(tags.stdout).map(({ referrer_tag, sessions_total }) => [referrer_tag, sessions_total]),
      [[tagOfShard[shard], 2]],
    );
  }
  const counts = JSON.parse((await run('analytics', 'tags', '--json')).stdout);
  assert.deepEqual(counts.map((each: { account: string }) => each.account).sort(), accounts);

  const verified = await run('log', 'verify', '--json');
  assert.deepEqual(
    parseAll(verified.stdout).map(({ folder, records }) => [folder, records]),
    [0, 1].map((shard) => [ledgerOf(group.rootDir, shard), 2]),
  );
  const listed = JSON.parse((await run('keys', 'list', '--json')).stdout);
  assert.deepEqual(
    listed.map((key: { account: string }) => key.account),
    accounts,
  );
});

test('a backup has the files of all shards, and shards start in it with the same sessions', async (t) => {
  const { group, run, keys } = await startShards(t);
  const [first, second] = ['first', 'second'].map((name) => join(temporaryFolder(t), name));
  assert.equal((await run('backup', first!)).code, 0);
  await group.caller(keys[1]!, 1).createSession(tagOfShard[1]!);
  const backup = await run('backup', second!, '--base', first!, '--json');
  assert.deepEqual([backup.code, JSON.parse(backup.stdout).ledger_records], [0, 5]);
  await group.close();
  const rebuilt = await runMarketplace(['analytics', 'rebuild', '--json'], { SVC_DATA_DIR: second! });
  assert.deepEqual(
    parseAll(rebuilt.stdout).map(({ records }) => records),
    [2, 3],
  );
  const restored = await ShardGroup.start(t, 2, 'uws', second!);
  for (const [shard, referrer_tag] of tagOfShard.entries()) {
    const { sessions_total } = await restored.caller(keys[shard]!, 1 - shard).summary({ referrer_tag });
    assert.equal(sessions_total, 2 + shard);
  }
});

test('log verify checks all shards, and reports those whose ledger is damaged or missing', async (t) => {
  const { group, run } = await startShards(t);
  await group.close();
  const ledger = ledgerOf(group.rootDir, 0);
  const segment = join(ledger, readdirSync(ledger).at(-1)!);
  truncateSync(segment, Math.floor(statSync(segment).size / 2));
  appendFileSync(segment, Buffer.alloc(100, 255));
  const damaged = await run('log', 'verify', '--json');
  assert.equal(damaged.code, 3);
  assert.deepEqual(
    parseAll(damaged.stdout).map(({ damage }) => damage !== null),
    [true, false],
  );
  const missing = ledgerOf(group.rootDir, 1);
  rmSync(missing, { recursive: true });
  const both = await run('log', 'verify', '--json');
  assert.equal(both.code, 3);
  assert.match(both.stderr, new RegExp(`there is no log at ${missing}`));
});

test('keys repair accepts a key file that is older than a shard, and new accounts get other numbers', async (t) => {
  const older = join(temporaryFolder(t), 'keys.sqlite');
  const { group, run } = await startShards(t, (path) => copyKeyFile(path, older));
  await group.close();
  const { rootDir } = group;
  const path = keyFilePath(rootDir);
  // The inventory of shard 0 contains the numbers of all shards.
  for (const name of ['inventory.json', 'keys.sqlite', 'keys.sqlite-wal', 'keys.sqlite-shm']) {
    rmSync(join(rootDir, name), { force: true });
  }
  renameSync(older, path);
  const create = () =>
    run('keys', 'create', '--account', 'new', '--vertical', 'personal-loans', '--mode', 'live', '--raw');
  assert.match((await create()).stderr, /is older than the data folder/);
  assert.equal((await run('keys', 'repair', '--yes')).code, 0);
  assert.match((await run('keys', 'repair', '--yes')).stdout, /nothing to do/);
  assert.equal((await create()).code, 0);
  assert.deepEqual(readKeyFileNumbers(path).accounts, [1, 0x1_0002]);
  await ShardGroup.start(t, 2, 'uws', rootDir);
});

test('keys, origins and the audit log of a data folder serve all shards', async (t) => {
  const { group, run, accounts, keys } = await startShards(t);
  const listed: { account: string; id: string }[] = JSON.parse((await run('keys', 'list', '--json')).stdout);
  const { id } = listed.find(({ account }) => account === accounts[1])!;
  assert.equal((await run('origins', 'allow', '--account', accounts[1]!, 'https://shop.example')).code, 0);
  assert.equal((await run('keys', 'revoke', id)).code, 0);
  const ask = (shard: number) => group.caller(keys[1]!, shard).get('analytics', { referrer_tag: tagOfShard[1]! });
  // The shards poll the key file every second.
  for (const shard of [0, 1]) while ((await ask(shard)).status !== 401) await pause(50);
  const { stdout } = await run('audit', 'list', '--json');
  for (const action of ['key.revoke', 'origin.allow']) assert.ok(stdout.includes(`"${action}"`), stdout);
});

test('log repair accepts the lost ledger of one shard, and records this in the audit log of the data folder', async (t) => {
  const { group, run, accounts } = await startShards(t);
  await group.close();
  const { rootDir } = group;
  const shardDir = shardDataDir(rootDir, 1);
  rmSync(ledgerOf(rootDir, 1), { recursive: true });
  const repaired = await run('log', 'repair', '--accept-missing-ledger', '--yes', '--json');
  assert.deepEqual(
    parseAll(repaired.stdout).map(({ outcome }) => outcome),
    ['ledger_not_missing', 'ledger_accepted'],
  );
  assert.equal(existsSync(join(shardDir, 'audit.sqlite')), false);
  assert.match((await run('audit', 'list', '--json')).stdout, /"ledger\.accept_loss"/);

  rmSync(shardDir, { recursive: true });
  const verified = await run('log', 'verify');
  assert.deepEqual([verified.code, verified.stderr.includes('shard 1 is left out')], [0, true]);
  const tags = await run('tags', '--account', accounts[1]!);
  assert.match(tags.stderr, new RegExp(`there are no analytics in ${shardDir}`));
});

test('the loss of a folder of a shard, with its empty or missing folder, is refused until it is accepted', async (t) => {
  const { group, run, keys } = await startShards(t);
  const { rootDir } = group;
  await group.close();
  const lost = shardDataDir(rootDir, 1);
  for (const keepsEmptyFolder of [true, false]) {
    rmSync(lost, { recursive: true });
    if (keepsEmptyFolder) mkdirSync(lost);
    await assert.rejects(
      ShardGroup.start(t, 2, 'uws', rootDir),
      /shards\/1\/ledger is missing, but shard 1 has served before/,
    );
  }
  // The first start has created the folder again.
  rmSync(lost, { recursive: true });
  const served = await runMarketplace(['serve'], { SVC_DATA_DIR: rootDir, SVC_PORT: '0', SVC_OPS_PORT: '0' });
  assert.match(served.stderr, /has 2 shards; start at least as many/);
  assert.equal((await run('log', 'repair', '--accept-missing-ledger', '--yes')).code, 0);
  const accepted = await ShardGroup.start(t, 2, 'uws', rootDir);
  const totals = await Promise.all(
    tagOfShard.map((referrer_tag, shard) => accepted.caller(keys[shard]!, shard).summary({ referrer_tag })),
  );
  assert.deepEqual(
    totals.map(({ sessions_total }) => sessions_total),
    [2, 0],
  );
});
