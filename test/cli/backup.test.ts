import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createMarketplace } from '../../src/index.ts';
import { ApiCaller } from '../support/api-caller.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { personalLoansFixture as fixture } from '../support/vertical-fixtures.ts';
import { marketplaceOnFreshFolder } from './sample-data-folder.ts';
import { ServedProcess, serveMarketplace } from './served-process.ts';

const clients = 24;
const visitsBeforeBackup = 40;
const clicksPerVisit = 2;
const tag = 'under-load';

/** Starts a server. `connect` returns an API client with its own connection. */
async function serve(t: TestContext, folder: string, key: string) {
  const served = new ServedProcess(t, { SVC_DATA_DIR: folder, SVC_MATCHER_THREADS: '1', SVC_LOG_LEVEL: 'warn' });
  const connect = async () => new ApiCaller(await served.client(t), fixture.vertical.segment, key);
  return { served, connect };
}

// `test/http/listener-connections.test.ts` checks that a drain loses no response.
test('a backup and a restart under load lose no acknowledged sessions, inputs or clicks', async (t) => {
  const { folder, run } = marketplaceOnFreshFolder(t);
  const target = join(folder, '..', 'backup');
  const marketplace = await createMarketplace({ dataDir: folder, urls: { click: 'https://go.example' } });
  const limits = { requestsPerMinute: 1_000_000, analyticsPerMinute: 1_000, sessionsPerDay: 1_000_000 };
  const { key } = marketplace.keys.create({ account: 'load', vertical: 'personal-loans', mode: 'live', limits });
  await marketplace.close();

  const { served, connect } = await serve(t, folder, key);
  const loaded = Promise.withResolvers<void>();
  let isStopping = false;
  const acknowledged: string[] = [];
  const loads = Array.from({ length: clients }, async () => {
    const caller = await connect();
    try {
      for (;;) {
        acknowledged.push((await caller.createSessionWithClicks(tag, fixture.complete, clicksPerVisit)).subId);
        if (acknowledged.length >= visitsBeforeBackup) loaded.resolve();
      }
    } catch (error) {
      // The server refuses requests after the signal.
      if (!isStopping) throw error;
    }
  });
  await Promise.race([loaded.promise, Promise.all(loads)]);
  const before = [...acknowledged];
  const backup = await run('backup', target);
  assert.deepEqual([backup.code, backup.stderr], [0, '']);
  assert.match(backup.stdout, /^copied \d+ records of the ledger/);
  assert.ok(acknowledged.length > before.length, 'nothing happened during the backup');
  isStopping = true;
  assert.equal(await served.stop(), 0);
  await Promise.all(loads);
  // The live key is served by an example catalog, which causes a warning at the start.
  const messages = served.log.map(({ msg }) => msg).filter((msg) => !msg.includes('example catalogs'));
  assert.deepEqual([messages, served.complaints], [[], []]);

  const verified = await run('log', 'verify', join(target, 'ledger'), '--json');
  assert.deepEqual([verified.code, JSON.parse(verified.stdout).tail_bytes], [0, 0]);
  // Each client had at most one visit that was not completely acknowledged.
  const visitsMax = acknowledged.length + clients;
  for (const [dataDir, expected] of [
    [target, before],
    [folder, acknowledged],
  ] as const) {
    const restarted = await serve(t, dataDir, key);
    const caller = await restarted.connect();
    const { sessions_total: sessions, offer_clicks: clicks } = await caller.summary({ referrer_tag: tag });
    const between = (value: number, min: number, max: number) => assert.ok(value >= min && value <= max, `${value}`);
    between(sessions, expected.length, visitsMax);
    between(clicks, clicksPerVisit * expected.length, clicksPerVisit * visitsMax);
    for (const subId of expected) assert.ok((await caller.offers(subId)).offers.length > 0);
    assert.equal(await restarted.served.stop(), 0);
  }
});

test('only the owner can read the files of a backup, and the target folder must be empty', async (t) => {
  const { folder, run } = marketplaceOnFreshFolder(t);
  const target = temporaryFolder(t);
  assert.match((await run('backup', target)).stderr, /^marketplace: there is no ledger in /);
  await (await serveMarketplace(folder)).stop();
  assert.equal((await run('backup', target)).code, 0);
  for (const name of ['secrets.json', 'keys.sqlite', 'operator-token']) {
    assert.equal(statSync(join(target, name)).mode & 0o077, 0, name);
  }
  const files = readdirSync(target, { recursive: true });
  const second = await run('backup', target);
  assert.deepEqual([second.code, second.stderr], [1, `marketplace: ${target} is not empty\n`]);
  assert.deepEqual(readdirSync(target, { recursive: true }), files);
});

test('the backup command reports an unreadable key file in one line', async (t) => {
  const { folder, run } = marketplaceOnFreshFolder(t);
  await (await serveMarketplace(folder)).stop();
  writeFileSync(join(folder, 'keys.sqlite'), 'no database');
  const { code, stderr } = await run('backup', join(folder, '..', 'backup'));
  assert.equal(code, 1);
  assert.match(stderr, /^marketplace: cannot open the key file [^\n]+\n$/);
  rmSync(join(folder, 'keys.sqlite'));
  mkdirSync(join(folder, 'keys.sqlite'));
  const noFile = await run('backup', join(folder, '..', 'other-backup'));
  assert.match(noFile.stderr, /^marketplace: cannot open the key file [^\n]+; check that it is a file, [^\n]+\n$/);
});
