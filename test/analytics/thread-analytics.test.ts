import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { AnalyticsUnavailableError, type SummaryQuery } from '../../src/analytics/analytics.ts';
import {
  startThreadAnalytics,
  type ThreadAnalytics,
  type ThreadAnalyticsOptions,
} from '../../src/analytics/thread-analytics.ts';
import { bounds } from '../../src/bounds.ts';
import { dayOf } from '../../src/domain/calendar.ts';
import { type FileEventLog, openEventLog } from '../../src/event-log/file-event-log.ts';
import { type DataFiles, dataFiles } from '../../src/files/data-files.ts';
import type { LedgerRecord } from '../../src/ledger/ledger-record.ts';
import { clickedRecord, createdRecord, subOf, viewedRecord } from '../support/ledger-records.ts';

const noon = Date.UTC(2026, 4, 20, 12);
const today = dayOf(noon);
const byTag: SummaryQuery = {
  account: 1,
  vertical: 1,
  mode: 'live',
  referrerTag: 'tag-one',
  subs: null,
  fromDay: today,
  toDay: today,
  today,
};
const subs = Array.from({ length: 2_000 }, (_, serial) => subOf({ createdMs: noon, serial }));

describe('thread analytics', () => {
  let folder: string;
  let files: DataFiles;
  let ledgerFolder: string;
  let analyticsStoreFile: string;
  const toClose: { close(): Promise<void> }[] = [];

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'thread-analytics-'));
    files = dataFiles(folder);
    ({ ledgerFolder, analyticsStoreFile } = files);
  });

  afterEach(async () => {
    for (const open of toClose.splice(0).reverse()) await open.close();
    rmSync(folder, { recursive: true });
  });

  async function openLog(at = ledgerFolder): Promise<FileEventLog<LedgerRecord>> {
    const log = await openEventLog<LedgerRecord>({ folder: at, durability: 'fsync' });
    toClose.push(log);
    return log;
  }

  async function writeLedger(records: readonly (readonly unknown[])[], at = ledgerFolder): Promise<void> {
    const log = await openEventLog<readonly unknown[]>({ folder: at, durability: 'fsync' });
    await Promise.all(records.map((record) => log.append(record)!.durable));
    await log.close();
  }

  async function start(
    log: ThreadAnalyticsOptions['log'],
    options: Partial<ThreadAnalyticsOptions> = {},
  ): Promise<ThreadAnalytics> {
    const analytics = await startThreadAnalytics({ files, log, ...options });
    toClose.push(analytics);
    return analytics;
  }

  function logAt(
    durablePosition: number,
    appendedPosition = durablePosition,
    healthy = true,
  ): ThreadAnalyticsOptions['log'] {
    return { durablePosition, appendedPosition, healthy };
  }

  it('includes everything appended before the query', async () => {
    const log = await openLog();
    const analytics = await start(log);
    log.onDurable((position) => analytics.onLedgerDurable(position));
    for (let turn = 0; turn < 200; turn++) {
      const appended = log.append(createdRecord(subs[turn]!))!.durable;
      assert(log.appendWithoutWaiting(viewedRecord(subs[turn]!, ['a'])));
      if (turn % 3 === 0) await appended;
      const { sessions, views } = await analytics.getSummary(byTag);
      assert.deepEqual([sessions, views], [turn + 1, turn + 1]);
    }
  });

  it('includes everything appended before each of many concurrent queries', async () => {
    const log = await openLog();
    const analytics = await start(log);
    log.onDurable((position) => analytics.onLedgerDurable(position));
    const answers = subs.slice(0, 300).map((sub) => {
      log.appendWithoutWaiting(createdRecord(sub));
      return analytics.getSummary(byTag);
    });
    for (const [index, { sessions }] of (await Promise.all(answers)).entries()) assert(sessions >= index + 1);
  });

  it('includes everything appended before the query in days and rows', async () => {
    const log = await openLog();
    const analytics = await start(log);
    log.onDurable((position) => analytics.onLedgerDurable(position));
    for (let turn = 0; turn < 50; turn++) {
      const sub = subs[turn]!;
      log.appendWithoutWaiting(createdRecord(sub, { metadata: `{"turn":${turn}}` }));
      log.appendWithoutWaiting(viewedRecord(sub, ['a']));
      const [day] = (await analytics.listDays(byTag)).days;
      assert.deepEqual([day?.sessions, day?.views], [turn + 1, turn + 1]);
      const { rows, nextAfterPosition } = await analytics.listRows({ ...byTag, afterPosition: 2 * turn, limit: 5 });
      assert.deepEqual(
        [rows.length, rows[0]?.metadata, rows[0]?.views, nextAfterPosition],
        [1, `{"turn":${turn}}`, 1, null],
      );
      assert.deepEqual(rows[0]?.sub, Uint8Array.from(sub));
    }
    const listed = { ...byTag, referrerTag: null, subs: [subs[7]!, subs[3]!, subs[60]!] };
    assert.equal((await analytics.listDays(listed)).days[0]?.sessions, 2);
    const { rows } = await analytics.listRows({ ...listed, afterPosition: 0, limit: 5 });
    assert.deepEqual(
      rows.map(({ metadata }) => metadata),
      ['{"turn":3}', '{"turn":7}'],
    );
  });

  it('projects the log without queries', async () => {
    const log = await openLog();
    const analytics = await start(log);
    log.onDurable((position) => analytics.onLedgerDurable(position));
    for (const count of [500, 1, 400]) {
      for (const sub of subs.slice(0, count)) log.appendWithoutWaiting(createdRecord(sub));
      while (analytics.projectedPosition < log.appendedPosition) await pause(5);
    }
    const totals = await analytics.getTotals();
    assert.deepEqual([totals.records, totals.repeatedSession], [901, 401]);
  });

  it('continues after the last projected record when restarted', async () => {
    const log = await openLog();
    for (let turn = 1; turn <= 3; turn++) {
      const analytics = await start(log);
      log.onDurable((position) => analytics.onLedgerDurable(position));
      for (const sub of subs.slice(turn * 100, turn * 100 + 100)) {
        log.appendWithoutWaiting(createdRecord(sub));
        log.appendWithoutWaiting(viewedRecord(sub, ['a']));
        log.appendWithoutWaiting(clickedRecord(sub, 'a'));
      }
      const { sessions, views, clicks } = await analytics.getSummary(byTag);
      assert.deepEqual([sessions, views, clicks], [turn * 100, turn * 100, turn * 100]);
      await analytics.close();
    }
  });

  it('returns current totals without waiting', async () => {
    await writeLedger(subs.slice(0, 10).map((sub) => createdRecord(sub)));
    const analytics = await start(logAt(5, 10));
    while (analytics.projectedPosition < 5) await pause(1);
    assert.equal((await analytics.getCurrentTotals()).records, 5);
  });

  it('rejects a queued query whose signal has ended, and executes the others', async () => {
    await writeLedger(subs.slice(0, 10).map((sub) => createdRecord(sub)));
    const analytics = await start(logAt(10));
    const signal = { ended: false };
    const first = Array.from({ length: bounds.analyticsQueriesInFlightMax }, () => analytics.getSummary(byTag, signal));
    const cancelled = analytics.listRows({ ...byTag, afterPosition: 0, limit: 5 }, signal);
    const active = analytics.listDays(byTag, { ended: false });
    const rejected = assert.rejects(cancelled, AnalyticsUnavailableError);
    // In the same turn, so the thread has not executed any query yet.
    signal.ended = true;
    for (const { sessions } of await Promise.all(first)) assert.equal(sessions, 10);
    await rejected;
    assert.equal((await active).days[0]?.sessions, 10);
  });

  it('delays a query until earlier records are durable', async () => {
    await writeLedger(subs.slice(0, 10).map((sub) => createdRecord(sub)));
    const analytics = await start(logAt(5, 10));
    const answer = analytics.getSummary(byTag);
    analytics.onLedgerDurable(9);
    analytics.onLedgerDurable(10);
    assert.equal((await answer).sessions, 10);
  });

  it('counts what became durable before it was hooked to the log', async () => {
    await writeLedger(subs.slice(0, 10).map((sub) => createdRecord(sub)));
    const log = { durablePosition: 5, appendedPosition: 5, healthy: true };
    const analytics = await start(log);
    log.durablePosition = log.appendedPosition = 10;
    assert.equal((await analytics.getSummary(byTag)).sessions, 10);
  });

  it('uses the durable records while the log is unhealthy', async () => {
    await writeLedger(subs.slice(0, 10).map((sub) => createdRecord(sub)));
    const analytics = await start(logAt(5, 10, false));
    assert.equal((await analytics.getSummary(byTag)).sessions, 5);
  });

  it('rejects a query that times out', async (test) => {
    await writeLedger([createdRecord(subs[0]!)]);
    const analytics = await start(logAt(0, 1));
    test.mock.timers.enable({ apis: ['setTimeout'] });
    const answer = analytics.getSummary(byTag);
    test.mock.timers.tick(bounds.analyticsQueryTimeoutMs);
    await assert.rejects(answer, AnalyticsUnavailableError);
    test.mock.timers.reset();
    analytics.onLedgerDurable(1);
    assert.equal((await analytics.getSummary(byTag)).sessions, 1);
  });

  it('rejects a query if the queue is full, and executes the queued ones', async () => {
    await writeLedger([createdRecord(subs[0]!)]);
    const analytics = await start(logAt(1));
    const answers = Array.from({ length: bounds.analyticsQueueQueriesMax }, () => analytics.getSummary(byTag));
    await assert.rejects(analytics.getSummary(byTag), AnalyticsUnavailableError);
    for (const { sessions } of await Promise.all(answers)) assert.equal(sessions, 1);
    assert.equal((await analytics.getSummary(byTag)).sessions, 1);
  });

  it('rebuilds the store if the log ends before its cursor', async () => {
    await writeLedger(subs.slice(0, 20).map((sub) => createdRecord(sub)));
    const analytics = await start(logAt(20));
    assert.equal((await analytics.getSummary(byTag)).sessions, 20);
    await analytics.close();
    rmSync(ledgerFolder, { recursive: true });
    await writeLedger(subs.slice(0, 7).map((sub) => createdRecord(sub)));
    const reasons: string[] = [];
    const again = await start(logAt(7), { onRebuild: (reason) => reasons.push(reason) });
    assert.equal((await again.getSummary(byTag)).sessions, 7);
    assert.equal((await again.getTotals()).records, 7);
    assert.equal(reasons.length, 1);
  });

  it('rebuilds a damaged store and one with another schema version', async () => {
    await writeLedger(subs.slice(0, 20).map((sub) => createdRecord(sub)));
    const damages = [
      () => writeFileSync(analyticsStoreFile, 'no database at all, but more than a few hundred bytes. '.repeat(100)),
      () => {
        const store = new Database(analyticsStoreFile);
        store.pragma('user_version = 999');
        store.close();
      },
    ];
    for (const damage of damages) {
      damage();
      const reasons: string[] = [];
      let rebuilt = 0;
      const onRebuild = (reason: string): void => void reasons.push(reason);
      const analytics = await start(logAt(20), { onRebuild, onRebuilt: () => rebuilt++ });
      assert.equal((await analytics.getSummary(byTag)).sessions, 20);
      assert.deepEqual([reasons.length, rebuilt], [1, 1]);
      await analytics.close();
    }
  });

  it('rebuilds a store that is found damaged while running', async () => {
    await writeLedger([...subs.map((sub) => createdRecord(sub)), ...subs.map((sub) => viewedRecord(sub, ['a']))]);
    const first = await start(logAt(subs.length));
    assert.equal((await first.getSummary(byTag)).sessions, subs.length);
    await first.close();
    // Damages pages that are not read at opening, but when the views look up their sessions.
    const bytes = readFileSync(analyticsStoreFile);
    bytes.fill(0xa5, Math.floor(bytes.length * 0.4), Math.floor(bytes.length * 0.6));
    writeFileSync(analyticsStoreFile, bytes);
    const crashed = Promise.withResolvers<Error>();
    const log = { durablePosition: subs.length, appendedPosition: subs.length, healthy: true };
    const recovered = Promise.withResolvers<void>();
    const analytics = await start(log, { onCrash: crashed.resolve, onRecovered: recovered.resolve });
    log.durablePosition = log.appendedPosition = 2 * subs.length;
    analytics.onLedgerDurable(2 * subs.length);
    assert.match((await crashed.promise).message, /malformed/);
    const { sessions, views } = await retrySummary(analytics);
    assert.deepEqual([sessions, views], [subs.length, subs.length]);
    await recovered.promise;
  });

  it('rejects queries when the thread exits, and restarts it', async () => {
    await writeLedger(subs.slice(0, 10).map((sub) => createdRecord(sub)));
    const copy = join(folder, 'copy');
    cpSync(ledgerFolder, copy, { recursive: true });
    const crashed = Promise.withResolvers<Error>();
    const log = { durablePosition: 4, appendedPosition: 4, healthy: true };
    const analytics = await start(log, { onCrash: crashed.resolve });
    assert.equal((await analytics.getSummary(byTag)).sessions, 4);
    damageLastRecord(ledgerFolder, subs[9]!);
    log.durablePosition = log.appendedPosition = 10;
    analytics.onLedgerDurable(10);
    await assert.rejects(analytics.getSummary(byTag), AnalyticsUnavailableError);
    assert.match((await crashed.promise).message, /damaged|record 10|segment/i);
    assert.equal(analytics.healthy, false);
    await assert.rejects(analytics.getSummary(byTag), AnalyticsUnavailableError);
    rmSync(ledgerFolder, { recursive: true });
    cpSync(copy, ledgerFolder, { recursive: true });
    const { sessions } = await retrySummary(analytics);
    assert.equal(sessions, 10);
    assert.equal((await analytics.getTotals()).records, 10);
    assert.equal(analytics.healthy, true);
  });

  it('fails to start if the store cannot be opened', async () => {
    await writeLedger([createdRecord(subs[0]!)]);
    const nowhere = { ...files, analyticsStoreFile: join(folder, 'none', 'a') };
    await assert.rejects(startThreadAnalytics({ files: nowhere, log: logAt(1) }));
  });

  it('rejects a query without tag and sub_ids', async () => {
    await writeLedger([createdRecord(subs[0]!)]);
    const analytics = await start(logAt(1));
    const neither = { ...byTag, referrerTag: null };
    await assert.rejects(analytics.getSummary(neither), TypeError);
    await assert.rejects(analytics.listDays(neither), TypeError);
    await assert.rejects(analytics.listRows({ ...neither, afterPosition: 0, limit: 1 }), TypeError);
    assert.equal((await analytics.getSummary(byTag)).sessions, 1);
  });

  it('rejects pending and later queries when closed', async () => {
    await writeLedger(subs.slice(0, 10).map((sub) => createdRecord(sub)));
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

  /** Repeats the query until the thread is running again. */
  async function retrySummary(analytics: ThreadAnalytics) {
    for (;;) {
      try {
        return await analytics.getSummary(byTag);
      } catch (error) {
        assert(error instanceof AnalyticsUnavailableError);
        await pause(20);
      }
    }
  }
});

/** Changes a byte of the last record that contains these bytes. */
function damageLastRecord(folder: string, bytes: Buffer): void {
  for (const name of readdirSync(folder)) {
    const content = readFileSync(join(folder, name));
    const offset = content.lastIndexOf(bytes);
    if (offset < 0) continue;
    content[offset + 20]! ^= 1;
    writeFileSync(join(folder, name), content);
    return;
  }
  assert.fail('record not found in the ledger');
}
