import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import Database from 'better-sqlite3';
import { ThreadAnalytics } from '../../src/analytics/thread-analytics.ts';
import { dayNumberOf } from '../../src/domain/calendar.ts';
import { openEventLog } from '../../src/event-log/file-event-log.ts';
import { dataPaths } from '../../src/files/data-paths.ts';
import { sessionCreatedRecord, subIdBytes } from '../support/ledger-records.ts';

const createdMs = Date.UTC(2026, 4, 20, 12);
const sessions = 50_000;
/** Allowed memory growth. A queue of all pending records would be several times larger, at 80 bytes or more per record. */
const growthBytesMax = 6 * 1024 * 1024;

test('an aggregator that was blocked by a locked store catches up, without buffering records in memory', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'aggregator-lag-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const files = dataPaths(folder);
  const log = await openEventLog({ folder: files.ledgerFolder, durability: 'write' });
  const analytics = await ThreadAnalytics.start({ files, log });
  t.after(async () => {
    await analytics.close();
    await log.close();
  });
  log.setDurableListener((position) => analytics.onLedgerDurable(position));
  const append = async (count: number) => {
    for (let i = 0; i < count; i++) {
      const record = sessionCreatedRecord(subIdBytes({ createdMs, serial: log.appendedPosition }), { tag: 'tag-one' });
      if (i % 500 === 499) await log.append(record)!.durable;
      else assert(log.appendWithoutWaiting(record));
    }
  };
  const today = dayNumberOf(createdMs);
  const query = { account: 1, vertical: 1, mode: 'live', fromDay: today, toDay: today, today } as const;
  const countSessions = async () =>
    (await analytics.getSummary({ ...query, referrerTag: 'tag-one', subs: null })).sessions;
  await append(1_000);
  assert.equal(await countSessions(), 1_000);

  // Locks the store, as a backup might, so that the aggregator cannot commit.
  const blocker = new Database(files.analyticsStoreFile);
  t.after(() => blocker.close());
  blocker.exec('BEGIN IMMEDIATE');
  await append(1_000);
  const before = memoryBytes();
  await append(sessions - 2_000);
  assert(memoryBytes() - before < growthBytesMax, `${memoryBytes() - before} bytes of growth`);
  assert(analytics.projectedPosition < 2_000);
  assert(analytics.lagMs > 0);
  blocker.exec('ROLLBACK');

  const deadlineMs = Date.now() + 60_000;
  while (analytics.projectedPosition < sessions && Date.now() < deadlineMs) await pause(20);
  assert.equal(await countSessions(), sessions);
  assert.equal(analytics.lagMs, 0);
});

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Bytes in use on and off the heap of this thread. */
function memoryBytes(): number {
  collectGarbage();
  const { heapUsed, external, arrayBuffers } = process.memoryUsage();
  return heapUsed + external + arrayBuffers;
}
