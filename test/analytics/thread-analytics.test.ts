import assert from 'node:assert/strict';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { AnalyticsUnavailableError } from '../../src/analytics/analytics.ts';
import { type AnalyticsThreadOptions, ThreadAnalytics } from '../../src/analytics/thread-analytics.ts';
import { bounds } from '../../src/bounds.ts';
import { openEventLog } from '../../src/event-log/file-event-log.ts';
import { type DataPaths, dataPaths } from '../../src/files/data-paths.ts';
import type { LedgerRecord } from '../../src/ledger/ledger-record.ts';
import { memoryBytes } from '../sessions/collect-garbage.ts';
import { offersViewedRecord, sessionCreatedRecord, subIdBytes } from '../support/ledger-records.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { byTag, noon } from './sample-query.ts';

const subs = Array.from({ length: 2_000 }, (_, serial) => subIdBytes({ createdMs: noon, serial }));

describe('ThreadAnalytics', () => {
  let folder: string;
  let files: DataPaths;
  let ledgerFolder: string;
  let analyticsStoreFile: string;
  const toClose: { close(): Promise<void> }[] = [];

  beforeEach(() => {
    folder = temporaryFolder();
    files = dataPaths(folder);
    ({ ledgerFolder, analyticsStoreFile } = files);
  });

  afterEach(async () => {
    for (const open of toClose.splice(0).reverse()) await open.close();
  });

  async function writeLedger(records: readonly LedgerRecord[]): Promise<void> {
    const log = await openEventLog<LedgerRecord>({ folder: ledgerFolder, durability: 'fsync' });
    await Promise.all(records.map((record) => log.append(record)!.durable));
    await log.close();
  }

  async function start(
    log: AnalyticsThreadOptions['log'],
    options: Partial<AnalyticsThreadOptions> = {},
  ): Promise<ThreadAnalytics> {
    const analytics = await ThreadAnalytics.start({ files, log, ...options });
    toClose.push(analytics);
    return analytics;
  }

  async function startOnLog() {
    const log = await openEventLog<LedgerRecord>({ folder: ledgerFolder, durability: 'fsync' });
    toClose.push(log);
    const analytics = await start(log);
    log.setDurabilityListener((position) => analytics.onLedgerDurable(position));
    return { log, analytics };
  }

  const logAt = (durablePosition: number, lastAppendedPosition = durablePosition) => ({
    durablePosition,
    lastAppendedPosition,
    healthy: true,
  });

  it('summary, days and rows include every record that was appended before the query', async () => {
    const { log, analytics } = await startOnLog();
    for (let turn = 0; turn < 60; turn++) {
      const sub = subs[turn]!;
      const appended = log.append(sessionCreatedRecord(sub, { metadata: `{"turn":${turn}}` }))!.durable;
      assert(log.appendWithoutWaiting(offersViewedRecord(sub, ['a'])));
      if (turn % 3 === 0) await appended;
      const { sessions, views } = await analytics.getSummary(byTag);
      const [day] = (await analytics.listDailyAnalytics(byTag)).days;
      assert.deepEqual([sessions, views, day?.sessions, day?.views], Array(4).fill(turn + 1));
      const { rows, nextAfterPosition } = await analytics.listSessions({
        ...byTag,
        order: 'oldest',
        afterPosition: 2 * turn,
        limit: 5,
      });
      assert.deepEqual([rows.length, rows[0]?.views, nextAfterPosition], [1, 1, null]);
      assert.deepEqual([rows[0]?.metadata, rows[0]?.sub], [`{"turn":${turn}}`, Uint8Array.from(sub)]);
    }
    const answers = subs.slice(60, 160).map((sub) => {
      log.appendWithoutWaiting(sessionCreatedRecord(sub));
      return analytics.getSummary(byTag);
    });
    for (const [index, { sessions }] of (await Promise.all(answers)).entries()) assert(sessions >= 61 + index);
    const listed = { ...byTag, referrerTag: null, subs: [subs[7]!, subs[3]!, subs[160]!] };
    assert.equal((await analytics.getSummary(listed)).sessions, 2);
    const { rows } = await analytics.listSessions({ ...listed, order: 'oldest', afterPosition: 0, limit: 5 });
    assert.deepEqual(
      rows.map(({ metadata }) => metadata),
      ['{"turn":3}', '{"turn":7}'],
    );
    const neither = { ...byTag, referrerTag: null };
    await assert.rejects(analytics.getSummary(neither), TypeError);
    await assert.rejects(analytics.listDailyAnalytics(neither), TypeError);
    await assert.rejects(
      analytics.listSessions({ ...neither, order: 'oldest', afterPosition: 0, limit: 1 }),
      TypeError,
    );
  });

  it('a query covers all appended records, or only the durable records if the log is unhealthy', async () => {
    await writeLedger(subs.slice(0, 12).map((sub) => sessionCreatedRecord(sub)));
    const log = { durablePosition: 5, lastAppendedPosition: 10, healthy: false };
    const analytics = await start(log);
    assert.equal((await analytics.getSummary(byTag)).sessions, 5);
    assert.equal((await analytics.getRecordCounts()).records, 5);
    log.healthy = true;
    const answer = analytics.getSummary(byTag);
    assert.equal((await analytics.getRecordCounts()).records, 5);
    analytics.onLedgerDurable(8);
    analytics.onLedgerDurable(10);
    assert.equal((await answer).sessions, 10);
    // `onLedgerDurable` is not called.
    log.durablePosition = log.lastAppendedPosition = 12;
    assert.equal((await analytics.getSummary(byTag)).sessions, 12);
  });

  it('the aggregator catches up after the store was locked, without buffering records in memory', async () => {
    const { log, analytics } = await startOnLog();
    const append = async (count: number) => {
      for (let left = count; left > 0; left--) {
        const record = sessionCreatedRecord(subIdBytes({ createdMs: noon, serial: log.lastAppendedPosition }));
        // Waits for every 500th record, so that the pending records stay within the log's bounds.
        if (left % 500 === 1) await log.append(record)!.durable;
        else assert(log.appendWithoutWaiting(record));
      }
    };
    await append(1_000);
    assert.equal((await analytics.getSummary(byTag)).sessions, 1_000);
    // Locks the store, as a backup might, so that the aggregator cannot commit.
    const blocker = new Database(analyticsStoreFile);
    blocker.exec('BEGIN IMMEDIATE');
    await append(1_000);
    const before = await memoryBytes();
    await append(48_000);
    // A queue of all pending records would need several times as much memory, with 80 bytes or more per record.
    const grownBytes = (await memoryBytes()) - before;
    assert(grownBytes < 6 * 1024 * 1024, `${grownBytes} bytes of growth`);
    assert(analytics.appliedPosition < 2_000);
    assert(analytics.lagMs > 0);
    blocker.close();
    while (analytics.appliedPosition < log.lastAppendedPosition) await pause(20);
    assert.equal((await analytics.getSummary(byTag)).sessions, 50_000);
    assert.equal(analytics.lagMs, 0);
  });

  it('rejects canceled queries and queries above the queue limit, and executes all other queries', async (test) => {
    // Disables timeouts, because queries may take long on a busy machine.
    test.mock.timers.enable({ apis: ['setTimeout'] });
    await writeLedger(subs.slice(0, 10).map((sub) => sessionCreatedRecord(sub)));
    const analytics = await start(logAt(10));
    const signal = { ended: false };
    const length = bounds.analyticsQueriesInFlightPerAccountMax;
    const first = Array.from({ length }, () => analytics.getSummary(byTag, signal));
    const cancelled = analytics.listSessions({ ...byTag, order: 'oldest', afterPosition: 0, limit: 5 }, signal);
    const active = analytics.listDailyAnalytics(byTag, { ended: false });
    const rejected = assert.rejects(cancelled, AnalyticsUnavailableError);
    // All queries are sent in the same event-loop turn, before the thread executes the first one.
    signal.ended = true;
    for (const { sessions } of await Promise.all(first)) assert.equal(sessions, 10);
    await rejected;
    assert.equal((await active).days[0]?.sessions, 10);

    const answers = Array.from({ length: bounds.analyticsQueueQueriesMax }, (_, index) =>
      analytics.getSummary({ ...byTag, account: 1 + (index % 3) }),
    );
    await assert.rejects(analytics.getSummary({ ...byTag, account: 4 }), /queue is full/);
    (await Promise.all(answers)).forEach(({ sessions }, index) => {
      assert.equal(sessions, index % 3 === 0 ? 10 : 0);
    });
    assert.equal((await analytics.getSummary(byTag)).sessions, 10);
  });

  it('answers an account before the many queries of another account, which do not fill the queue', async (test) => {
    test.mock.timers.enable({ apis: ['setTimeout'] });
    await writeLedger([sessionCreatedRecord(subs[0]!)]);
    const analytics = await start(logAt(1));
    const { analyticsQueriesInFlightPerAccountMax, analyticsQueueQueriesPerAccountMax } = bounds;
    const length = analyticsQueriesInFlightPerAccountMax + analyticsQueueQueriesPerAccountMax;
    let answered = 0;
    const many = Array.from({ length }, () => analytics.getSummary(byTag).then(() => answered++));
    await assert.rejects(analytics.getSummary(byTag), AnalyticsUnavailableError);
    await analytics.getSummary({ ...byTag, account: 2 });
    assert(answered <= analyticsQueriesInFlightPerAccountMax, `${answered} earlier answers`);
    await Promise.all(many);
  });

  it('rejects an analytics query that times out', async (test) => {
    await writeLedger([sessionCreatedRecord(subs[0]!)]);
    const analytics = await start(logAt(0, 1));
    test.mock.timers.enable({ apis: ['setTimeout'] });
    const answer = analytics.getSummary(byTag);
    test.mock.timers.tick(bounds.analyticsQueryTimeoutMs);
    await assert.rejects(answer, AnalyticsUnavailableError);
    test.mock.timers.reset();
    analytics.onLedgerDurable(1);
    assert.equal((await analytics.getSummary(byTag)).sessions, 1);
  });

  it('rebuilds a store that is damaged, has another schema version or belongs to another ledger', async () => {
    await writeLedger(subs.slice(0, 20).map((sub) => sessionCreatedRecord(sub)));
    let sessions = 20;
    const replaceLedger = async (first: number, count: number) => {
      rmSync(ledgerFolder, { recursive: true });
      sessions = count;
      await writeLedger(subs.slice(first, first + count).map((sub) => sessionCreatedRecord(sub)));
    };
    for (const damage of [
      () => writeFileSync(analyticsStoreFile, 'no database at all, but more than a few hundred bytes. '.repeat(100)),
      () => {
        const store = new Database(analyticsStoreFile);
        store.pragma('user_version = 999');
        store.close();
      },
      // The ledger ends before the cursor of the store.
      () => replaceLedger(0, 7),
      // The ledger has a different record at the position of the cursor.
      () => replaceLedger(100, 9),
    ]) {
      await damage();
      const reasons: string[] = [];
      let rebuilt = 0;
      const onRebuild = (reason: string): void => void reasons.push(reason);
      const analytics = await start(logAt(sessions), { onRebuild, onRebuilt: () => rebuilt++ });
      assert.equal((await analytics.getSummary(byTag)).sessions, sessions);
      assert.equal((await analytics.getRecordCounts()).records, sessions);
      assert.deepEqual([reasons.length, rebuilt], [1, 1]);
      await analytics.close();
    }
  });

  it('damage to the store ends the thread and rejects pending queries; a new thread then rebuilds the store', async () => {
    await writeLedger([
      ...subs.map((sub) => sessionCreatedRecord(sub)),
      ...subs.map((sub) => offersViewedRecord(sub, ['a'])),
    ]);
    const first = await start(logAt(subs.length));
    assert.equal((await first.getSummary(byTag)).sessions, subs.length);
    await first.close();
    // Damages pages that are read when a view looks up its session, not when the store is opened.
    const bytes = readFileSync(analyticsStoreFile);
    bytes.fill(0xa5, Math.floor(bytes.length * 0.5), Math.floor(bytes.length * 0.7));
    writeFileSync(analyticsStoreFile, bytes);
    const crashed = Promise.withResolvers<Error>();
    const recovered = Promise.withResolvers<void>();
    const log = logAt(subs.length);
    const analytics = await start(log, { onCrash: crashed.resolve, onRecovered: recovered.resolve });
    log.durablePosition = log.lastAppendedPosition = 2 * subs.length;
    analytics.onLedgerDurable(2 * subs.length);
    await assert.rejects(analytics.getSummary(byTag), AnalyticsUnavailableError);
    assert.match((await crashed.promise).message, /malformed/);
    assert.equal(analytics.healthy, false);
    await assert.rejects(analytics.getSummary(byTag), AnalyticsUnavailableError);
    await recovered.promise;
    assert.equal(analytics.healthy, true);
    const { sessions, views } = await analytics.getSummary(byTag);
    assert.deepEqual([sessions, views], [subs.length, subs.length]);
    assert.equal((await analytics.getRecordCounts()).records, 2 * subs.length);
  });

  it('ThreadAnalytics fails to start if the analytics store cannot be opened', async () => {
    await writeLedger([sessionCreatedRecord(subs[0]!)]);
    const nowhere = { ...files, analyticsStoreFile: join(folder, 'none', 'a') };
    await assert.rejects(ThreadAnalytics.start({ files: nowhere, log: logAt(1) }));
  });

  it('close rejects pending and later queries', async () => {
    await writeLedger(subs.slice(0, 10).map((sub) => sessionCreatedRecord(sub)));
    const analytics = await start(logAt(5, 10));
    const open = assert.rejects(analytics.getSummary(byTag), AnalyticsUnavailableError);
    await Promise.all([analytics.close(), analytics.close(), open]);
    await assert.rejects(analytics.getSummary(byTag), AnalyticsUnavailableError);
    assert.equal(analytics.healthy, false);
    analytics.onLedgerDurable(10);
    await analytics.close();
    assert.deepEqual(
      readdirSync(folder).filter((name) => name.startsWith('analytics')),
      ['analytics.sqlite'],
    );
  });
});
