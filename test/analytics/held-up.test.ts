import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import Database from 'better-sqlite3';
import { startThreadAnalytics } from '../../src/analytics/thread-analytics.ts';
import { dayOf } from '../../src/domain/calendar.ts';
import { openEventLog } from '../../src/event-log/file-event-log.ts';
import { dataFiles } from '../../src/files/data-files.ts';
import { createdRecord, subOf } from '../support/ledger-records.ts';

const createdMs = Date.UTC(2026, 4, 20, 12);
const sessions = 200_000;
/** A queue of what is held up would be several times as large: a record has some 80 bytes on disk, and more in memory. */
const growthMax = 24 * 1024 * 1024;

test('an aggregator that is held up catches up, and nothing waits for it in memory', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'held-up-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const files = dataFiles(folder);
  const log = await openEventLog({ folder: files.ledgerFolder, durability: 'write' });
  const analytics = await startThreadAnalytics({ files, log });
  t.after(async () => {
    await analytics.close();
    await log.close();
  });
  log.onDurable((position) => analytics.onLedgerDurable(position));
  const append = async (count: number) => {
    for (let i = 0; i < count; i++) {
      const record = createdRecord(subOf({ createdMs, serial: log.appendedPosition }), { tag: 'held-up' });
      if (i % 500 === 499) await log.append(record)!.durable;
      else assert(log.appendWithoutWaiting(record));
    }
  };
  await append(1_000);
  assert.equal((await analytics.getTotals()).records, 1_000);

  // Somebody else has the store's lock, as a backup might: nothing can be committed.
  const blocker = new Database(files.analyticsStoreFile);
  t.after(() => blocker.close());
  blocker.exec('BEGIN IMMEDIATE');
  await append(1_000);
  const before = memory();
  await append(sessions - 2_000);
  assert(memory() - before < growthMax, `${memory() - before} bytes more`);
  assert(analytics.projectedPosition < 2_000);
  assert(analytics.lagMs > 0);
  blocker.exec('ROLLBACK');

  const deadlineMs = Date.now() + 60_000;
  while (analytics.projectedPosition < sessions && Date.now() < deadlineMs) await pause(20);
  const today = dayOf(createdMs);
  const query = { account: 1, vertical: 1, mode: 'live', fromDay: today, toDay: today, today } as const;
  const { sessions: counted } = await analytics.getSummary({ ...query, referrerTag: 'held-up', subs: null });
  assert.equal(counted, sessions);
  assert.equal(analytics.lagMs, 0);
});

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** What is in use on the heap and beside it, in this thread. */
function memory(): number {
  collectGarbage();
  const { heapUsed, external, arrayBuffers } = process.memoryUsage();
  return heapUsed + external + arrayBuffers;
}
