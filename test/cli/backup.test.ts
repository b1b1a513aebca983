import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createMarketplace } from '../../src/index.ts';
import { ok } from '../embedded/embedded-marketplace.ts';
import { ApiCaller } from '../support/api-caller.ts';
import { plainEnvironment } from '../support/plain-environment.ts';
import { runAfterTest } from '../support/run-after-test.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { personalLoansFixture as fixture } from '../support/vertical-fixtures.ts';
import { assertFailed, runMarketplace } from './run-marketplace.ts';
import { createSampleData, marketplaceOnFreshFolder } from './sample-data-folder.ts';
import { ServedProcess, serveMarketplace } from './served-process.ts';

const marketplaceCommand = fileURLToPath(new URL('../../bin/marketplace', import.meta.url));
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
test('backups and a restart under load lose no acknowledged sessions, inputs or clicks', async (t) => {
  const { folder, run } = marketplaceOnFreshFolder(t);
  const target = join(folder, '..', 'backup');
  const second = join(folder, '..', 'second-backup');
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
  const beforeSecond = [...acknowledged];
  const secondBackup = await run('backup', second, '--base', target);
  assert.deepEqual([secondBackup.code, secondBackup.stderr], [0, '']);
  assert.ok(acknowledged.length > beforeSecond.length, 'nothing happened during the backup');
  isStopping = true;
  assert.equal(await served.stop(), 0);
  await Promise.all(loads);
  // The live key is served by an example catalog, which causes a warning at the start.
  const messages = served.log.map(({ msg }) => msg).filter((msg) => !msg.includes('example catalogs'));
  assert.deepEqual([messages, served.complaints], [[], []]);

  for (const copy of [target, second]) {
    const verified = await run('log', 'verify', join(copy, 'ledger'), '--json');
    assert.deepEqual([verified.code, JSON.parse(verified.stdout).tail_bytes], [0, 0]);
  }
  // Each client had at most one visit that was not completely acknowledged.
  const visitsMax = acknowledged.length + clients;
  // A server on the second backup must not change the files that it shares with the first one.
  for (const [dataDir, expected] of [
    [second, beforeSecond],
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
    assert.ok(!restarted.served.log.some(({ msg }) => msg.startsWith('rebuilding the analytics')));
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

/** Returns the content of all files of a folder by their path. */
function readFiles(folder: string): Map<string, string> {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();
  const files = paths.filter((path) => statSync(join(folder, path)).isFile());
  return new Map(files.map((path) => [path, readFileSync(join(folder, path), 'base64')]));
}

async function startAndStop(dataDir: string): Promise<void> {
  const marketplace = await createMarketplace({ dataDir, urls: { click: 'https://go.example' } });
  await marketplace.close();
}

test('a backup with a base shares what has not changed, and a start of it does not change the base', async (t) => {
  const { folder, run, marketplace, partner } = await createSampleData(t);
  ok(await partner.queryAnalytics({ referrer_tag: 'hero-short' }));
  const [first, second] = [join(folder, '..', 'first'), join(folder, '..', 'second')];
  assert.equal((await run('backup', first)).code, 0);
  const files = readFiles(first);
  assert.ok(files.has('analytics.sqlite'));
  ok(await partner.createSession({ referrer_tag: 'hero-short' }));
  ok(await partner.queryAnalytics({ referrer_tag: 'hero-short' }));
  await marketplace.close();
  // The next start seals the first segment of the ledger.
  await startAndStop(folder);
  const { code, stdout } = await run('backup', second, '--base', first, '--json');
  assert.deepEqual([code, JSON.parse(stdout).ledger_records], [0, 8]);
  const isShared = (name: string) => statSync(join(second, name)).ino === statSync(join(first, name)).ino;
  assert.ok(isShared('analytics.sqlite') && existsSync(join(second, 'analytics.sqlite-wal')));
  const served = await createMarketplace({ dataDir: second, urls: { click: 'https://go.example' } });
  assertFailed(await run('backup', join(folder, '..', 'third'), '--base', second), 1, / is in use by another instance/);
  await served.close();
  assert.ok(!isShared('analytics.sqlite'));
  assert.deepEqual(readFiles(first), files);
  const third = join(folder, '..', 'third');
  assert.equal((await run('backup', third, '--base', second)).code, 0);
  assert.equal(statSync(join(third, 'ledger/0000000000000001.log')).nlink, 2);
  assert.ok(existsSync(join(third, 'snapshot/content.json')));
});

test('a backup needs a complete backup as its base', async (t) => {
  const { folder, run } = await createSampleData(t);
  const target = join(folder, '..', 'target');
  for (const base of [folder, temporaryFolder(t), join(folder, '..', 'none')]) {
    assertFailed(await run('backup', target, '--base', base), 1, /is not a complete backup\n$/);
  }
});

test('an interrupted backup is refused by a start and as a base, and does not change its base', async (t) => {
  const { folder, run } = await createSampleData(t);
  const base = join(folder, '..', 'base');
  assert.equal((await run('backup', base)).code, 0);
  const files = readFiles(base);
  for (const last of ['unfinished-backup', 'analytics.sqlite', 'ledger', 'keys.sqlite', 'inventory.json']) {
    const target = join(folder, '..', `with-${last}`);
    const backup = spawn(marketplaceCommand, ['backup', target, '--base', base], {
      env: { ...plainEnvironment(), SVC_DATA_DIR: folder },
    });
    runAfterTest(t, () => backup.kill('SIGKILL'));
    const exited = once(backup, 'exit');
    while (!existsSync(join(target, last)) && backup.exitCode === null) await nextTurn();
    backup.kill('SIGKILL');
    await exited;
    const settings = { SVC_DATA_DIR: target };
    // The process may have removed the mark before it was killed.
    if (existsSync(join(target, 'unfinished-backup'))) {
      assert.match((await run('backup', target)).stderr, /has a backup that was interrupted; delete the folder\n$/);
      assert.match((await run('backup', `${target}-2`, '--base', target)).stderr, /is not a complete backup\n$/);
      const repair = await runMarketplace(['log', 'repair', '--accept-missing-ledger'], settings);
      assert.match(repair.stderr, /backup that was interrupted/);
      await assert.rejects(startAndStop(target), /backup that was interrupted, and is incomplete: use another backup/);
    }
    assert.deepEqual(readFiles(base), files);
  }
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
