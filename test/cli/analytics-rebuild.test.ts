import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import Database from 'better-sqlite3';
import { rebuildAnalyticsStore } from '../../src/analytics/ledger-follower.ts';
import { dataPaths } from '../../src/files/data-paths.ts';
import { lockFolder } from '../../src/files/folder-lock.ts';
import { ok } from '../embedded/embedded-marketplace.ts';
import { damageByte } from '../event-log/log-fixture.ts';
import { figuresInStore } from './figures-in-store.ts';
import { createSampleData } from './sample-data-folder.ts';

// `test/analytics/simulated-follower.test.ts` rebuilds the analytics store from every kind of record.
test('the command analytics rebuild', async (t) => {
  const { folder, run, marketplace, partner } = await createSampleData(t);
  const { data: rows } = ok(await partner.queryAnalytics({ granularity: 'row', referrer_tag: 'hero-short' }));
  const { offers } = ok(await partner.getMarketplace({ sub_id: rows[0]!.sub_id }));
  await marketplace.followClick(offers[0]!.click_url);
  ok(await partner.queryAnalytics({ referrer_tag: 'hero-short' }));
  await marketplace.close();
  const files = dataPaths(folder);
  const { analyticsStoreFile: store } = files;
  const before = figuresInStore(store);
  const assertUnchanged = (bytesBefore: Buffer) => {
    assert.deepEqual(readFileSync(store), bytesBefore);
    assert.ok(!existsSync(`${store}.rebuilt`));
  };

  await t.test('rebuild restores the contents of a changed store from the ledger', async () => {
    const database = new Database(store);
    database.exec('UPDATE day_counter SET clicks = clicks + 7; DELETE FROM session WHERE views = 0');
    database.close();
    assert.notDeepEqual(figuresInStore(store), before);
    const { code, stdout, stderr } = await run('analytics', 'rebuild');
    assert.deepEqual([code, stdout], [0, `rebuilt ${store} from 9 records\n`]);
    assert.equal(stderr, '  1 not counted: duplicateClicks\n');
    assert.deepEqual(figuresInStore(store), before);
  });

  await t.test('rebuild replaces an empty store and deletes temporary files of a killed rebuild', async () => {
    for (const name of readdirSync(folder).filter((each) => each.startsWith('analytics.sqlite'))) {
      writeFileSync(join(folder, name), '');
    }
    writeFileSync(`${store}.rebuilt`, 'leftover of a killed run');
    const { code } = await run('analytics', 'rebuild');
    assert.equal(code, 0);
    assert.deepEqual(figuresInStore(store), before);
    assert.ok(!existsSync(`${store}.rebuilt`));
  });

  await t.test('an interrupted rebuild does not change the store, and leaves no temporary file', async () => {
    const bytesBefore = readFileSync(store);
    const stop = new AbortController();
    const onProgress = () => stop.abort(new Error('stopped'));
    const onMissingRecords = assert.fail;
    const { signal } = stop;
    const rebuilding = rebuildAnalyticsStore({ files, upToPosition: 9, onProgress, onMissingRecords, signal });
    await assert.rejects(rebuilding, /^Error: stopped$/);
    assertUnchanged(bytesBefore);
  });

  await t.test('rebuild fails and changes nothing while the service runs or if the ledger is damaged', async () => {
    const bytesBefore = readFileSync(store);
    const lock = lockFolder(folder);
    const inUse = await run('analytics', 'rebuild');
    lock.release();
    assert.equal(inUse.code, 1);
    assert.match(inUse.stderr, /in use .*stop it first/);

    const [segment] = readdirSync(files.ledgerFolder).sort();
    damageByte(join(files.ledgerFolder, segment!), 100);
    const damaged = await run('analytics', 'rebuild');
    assert.equal(damaged.code, 3);
    assert.match(damaged.stderr, /damaged at byte/);
    assertUnchanged(bytesBefore);
  });
});
