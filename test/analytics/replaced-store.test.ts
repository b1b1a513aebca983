import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, rmSync } from 'node:fs';
import { beforeEach, describe, it, type TestContext } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import { LedgerFollower } from '../../src/analytics/ledger-follower.ts';
import { ThreadAnalytics } from '../../src/analytics/thread-analytics.ts';
import { msPerDay } from '../../src/domain/calendar.ts';
import { openEventLog } from '../../src/event-log/file-event-log.ts';
import { nodeFileSystem } from '../../src/event-log/log-files.ts';
import { deleteSegmentsBefore } from '../../src/event-log/segment-files.ts';
import { type DataPaths, dataPaths } from '../../src/files/data-paths.ts';
import type { LedgerRecord } from '../../src/ledger/ledger-record.ts';
import { sessionCreatedRecord, subIdBytes } from '../support/ledger-records.ts';
import { runAfterTest } from '../support/run-after-test.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { byTag, noon, today } from './sample-query.ts';

const sessions = 12_000;
const follower = fileURLToPath(new URL('follow-ledger.ts', import.meta.url));
/** Most sessions are 200 days old; the last ones were created on the last two days. */
function sessionAt(serial: number): LedgerRecord {
  const ageDays = serial < sessions - 2 ? 200 : sessions - 1 - serial;
  return sessionCreatedRecord(subIdBytes({ createdMs: noon - Math.max(0, ageDays) * msPerDay, serial }));
}

const query = { ...byTag, fromDay: today - 210 };

describe('a store with outdated figures', () => {
  let files: DataPaths;
  const openLog = () =>
    openEventLog<LedgerRecord>({ folder: files.ledgerFolder, durability: 'write', segmentBytesMax: 64 * 1024 });

  beforeEach(async () => {
    files = dataPaths(temporaryFolder());
    const log = await openLog();
    for (let serial = 0; serial < sessions; serial++) {
      // Waits for every 500th record, so that the pending records stay within the log's bounds.
      if (serial % 500 === 499) await log.append(sessionAt(serial))!.durable;
      else assert(log.appendWithoutWaiting(sessionAt(serial)));
    }
    await log.close();
    const current = new LedgerFollower(files, assert.fail);
    while (current.appliedPosition < sessions) current.applyBatch(sessions);
    current.close();
    // As after an upgrade to counting rules that count half as many sessions.
    const database = new Database(files.analyticsStoreFile);
    const version = database.pragma('user_version', { simple: true }) as number;
    database.exec(`UPDATE day_counter SET sessions = 2 * sessions; PRAGMA user_version = ${-version}`);
    database.close();
  });

  it('answers queries and follows the ledger until its replacement has the same records', async (t) => {
    // Disables the timeouts of queries, because queries may take long on a busy machine.
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const log = await openLog();
    runAfterTest(t, () => log.close());
    const rebuilt = Promise.withResolvers<void>();
    const reasons: string[] = [];
    const onRebuild = (reason: string) => void reasons.push(reason);
    const analytics = await ThreadAnalytics.start({ files, log, onRebuild, onRebuilt: rebuilt.resolve });
    runAfterTest(t, () => analytics.close());
    log.setDurabilityListener((position) => analytics.onLedgerDurable(position));
    // The replacement has to follow the ledger too.
    await log.append(sessionAt(sessions))!.durable;
    assert.equal((await analytics.getSummary(query)).sessions, 2 * sessions + 1);
    await rebuilt.promise;
    await log.append(sessionAt(sessions + 1))!.durable;
    assert.equal((await analytics.getSummary(query)).sessions, sessions + 2);
    assert.deepEqual(reasons, ['the figures of the analytics store are outdated; it remains in use meanwhile']);
    assert.equal(existsSync(`${files.analyticsStoreFile}.rebuilt`), false);
  });

  it('archives no day until its replacement is built, because the archive would keep outdated figures', (t) => {
    const opened = new LedgerFollower(files, () => {});
    runAfterTest(t, () => opened.close());
    opened.buildReplacement();
    const parameter = { today, retentionDays: 140, wallMs: noon };
    const archivedDay = () => {
      const outcome = opened.execute({ name: 'applyRetention', parameter });
      assert(outcome.archived);
      return [outcome.retainedFromDay, outcome.ledgerStartPosition > 0];
    };
    assert.deepEqual(archivedDay(), [0, false]);
    while (opened.isReplacing) opened.buildReplacement();
    assert.deepEqual(archivedDay(), [today - 140, true]);
    assert.equal(opened.execute({ name: 'getSummary', parameter: query }).sessions, sessions);
  });

  it('is not replaced before the retention has written a lost archive again', async (t) => {
    const markOutdated = () => {
      const database = new Database(files.analyticsStoreFile);
      const version = Math.abs(database.pragma('user_version', { simple: true }) as number);
      database.pragma(`user_version = ${-version}`);
      database.close();
    };
    let opened = new LedgerFollower(files, () => {});
    runAfterTest(t, () => opened.close());
    while (opened.isReplacing) opened.buildReplacement();
    const parameter = { today, retentionDays: 140, wallMs: noon };
    const outcome = opened.execute({ name: 'applyRetention', parameter });
    assert(outcome.archived);
    assert(0 < (await deleteSegmentsBefore(nodeFileSystem, files.ledgerFolder, outcome.ledgerStartPosition)));
    opened.close();
    rmSync(files.archiveFolder, { recursive: true });
    markOutdated();
    let outdatedCount = 0;
    opened = new LedgerFollower(
      files,
      () => {},
      () => outdatedCount++,
    );
    assert.deepEqual([opened.isReplacing, outdatedCount], [false, 1]);
    assert(opened.execute({ name: 'applyRetention', parameter }).archived);
    assert.equal(opened.isReplacing, true);
    while (opened.isReplacing) opened.buildReplacement();
    assert.equal(opened.execute({ name: 'getSummary', parameter: query }).sessions, sessions);
  });

  /** Starts a process that builds the replacement, and kills it when `isReached` returns true. */
  async function killWhen(t: TestContext, isReached: () => boolean): Promise<void> {
    const child = fork(follower, [files.analyticsStoreFile, String(sessions)], { execArgv: [] });
    runAfterTest(t, () => child.kill('SIGKILL'));
    const exited = once(child, 'exit');
    while (!isReached() && child.exitCode === null) await nextTurn();
    child.kill('SIGKILL');
    await exited;
  }

  /** Opens the store as after a crash, and returns its number of sessions. */
  function countSessions(): number {
    const opened = new LedgerFollower(files, () => {});
    try {
      assert.equal(opened.appliedPosition, sessions);
      return opened.execute({ name: 'getSummary', parameter: query }).sessions;
    } finally {
      opened.close();
    }
  }

  it('is either the old or the new store if the process is killed at any time', async (t) => {
    const exists = (suffix: string) => existsSync(`${files.analyticsStoreFile}.rebuilt${suffix}`);
    let wasBuilding = false;
    const isBuilding = () => {
      wasBuilding ||= exists('-wal');
      return wasBuilding;
    };
    for (const delayMs of [0, 30, 100]) {
      let since: number | null = null;
      await killWhen(t, () => {
        if (since === null && exists('-wal')) since = performance.now();
        return since !== null && performance.now() - since >= delayMs;
      });
      assert.ok([sessions, 2 * sessions].includes(countSessions()));
    }
    // While the replacement is closed, and after it has been renamed.
    await killWhen(t, () => isBuilding() && !exists('-wal'));
    assert.ok([sessions, 2 * sessions].includes(countSessions()));
    await killWhen(t, () => isBuilding() && !exists(''));
    assert.ok([sessions, 2 * sessions].includes(countSessions()));
    await killWhen(t, () => false);
    assert.equal(countSessions(), sessions);
  });
});
