import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import type { AggregatorWorkerData } from '../../src/analytics/aggregator-protocol.ts';
import { SharedProgress } from '../../src/analytics/shared-progress.ts';
import { ThreadAnalytics } from '../../src/analytics/thread-analytics.ts';
import { bounds } from '../../src/bounds.ts';
import { dayNumberOf } from '../../src/domain/calendar.ts';
import { openEventLog } from '../../src/event-log/file-event-log.ts';
import { type DataPaths, dataPaths } from '../../src/files/data-paths.ts';
import type { LedgerRecord } from '../../src/ledger/ledger-record.ts';
import { offerClickedRecord, offersViewedRecord, sessionCreatedRecord, subIdBytes } from '../support/ledger-records.ts';
import { AnalyticsModel } from './analytics-model.ts';

const noon = Date.UTC(2026, 4, 20, 12);
const today = dayNumberOf(noon);
const sessions = 9_000;

/** Views and clicks follow thousands of records after the creation of their session, in another batch. */
function* ledger(): Generator<LedgerRecord, void> {
  const sub = (serial: number) => subIdBytes({ createdMs: noon + serial, serial });
  for (let serial = 0; serial < sessions + 6_000; serial++) {
    if (serial < sessions)
      yield sessionCreatedRecord(sub(serial), { tag: `tag-${serial % 3}`, device: (serial % 5) as 0 });
    const viewed = serial - 3_000;
    if (viewed >= 0 && viewed < sessions) yield offersViewedRecord(sub(viewed), [`offer-${viewed % 7}`, 'offer-x']);
    const clicked = serial - 6_000;
    if (clicked >= 0 && clicked % 2 === 0) yield offerClickedRecord(sub(clicked), `offer-${clicked % 7}`);
    if (clicked >= 0 && clicked % 6 === 0) yield offerClickedRecord(sub(clicked), 'offer-x');
    if (clicked >= 0 && clicked % 4 === 0) yield offerClickedRecord(sub(clicked), `offer-${clicked % 7}`);
  }
}

describe('aggregator crash', () => {
  let folder: string;
  let files: DataPaths;
  let records: number;
  const model = new AnalyticsModel();

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'aggregator-crash-'));
    files = dataPaths(folder);
    const log = await openEventLog({ folder: files.ledgerFolder, durability: 'write' });
    for (const record of ledger()) {
      model.record(record);
      // Waits for every 500th record, so that the pending records stay within the log's bounds.
      if (log.appendedPosition % 500 === 0) await log.append(record)!.durable;
      else assert(log.appendWithoutWaiting(record));
    }
    records = log.appendedPosition;
    await log.close();
    assert(records > 3 * bounds.projectionBatchRecordsMax);
  });

  after(() => rmSync(folder, { recursive: true }));

  async function assertFigures(analyticsStoreFile: string): Promise<void> {
    const log = { durablePosition: records, appendedPosition: records, healthy: true };
    const analytics = await ThreadAnalytics.start({ files: { ...files, analyticsStoreFile }, log });
    try {
      for (const tag of ['tag-0', 'tag-1', 'tag-2']) {
        const query = { account: 1, vertical: 1, mode: 'live', fromDay: today, toDay: today, today } as const;
        const byTag = { ...query, referrerTag: tag, subs: null };
        assert.deepEqual(await analytics.getSummary(byTag), model.summary(byTag));
      }
      assert.equal((await analytics.getTotals()).records, records);
    } finally {
      await analytics.close();
    }
  }

  it('counts every record once if the aggregator process is killed at any point', async () => {
    const storeFile = join(folder, 'killed.sqlite');
    let kills = 0;
    for (let position = 0; position < records; ) {
      const child = spawn(
        process.execPath,
        [
          fileURLToPath(new URL('programs/aggregating-process.ts', import.meta.url)),
          folder,
          storeFile,
          '700',
          `${records}`,
        ],
        { stdio: ['ignore', 'pipe', 'inherit'] },
      );
      const exited = once(child, 'exit');
      // The process is killed at a random point of the next batch: in a read, a write or a commit.
      const killPosition = position + 700 * (1 + Math.floor(Math.random() * 30));
      child.stdout.on('data', (text: Buffer) => {
        position = Number(text.toString().trim().split('\n').at(-1));
        if (position < killPosition || position >= records) return;
        child.stdout.removeAllListeners('data');
        setTimeout(() => child.kill('SIGKILL'), Math.random() * 4);
      });
      const [code, signal] = await exited;
      if (signal === 'SIGKILL') {
        kills++;
      } else {
        assert.equal(code, 0);
        // A process that was killed after its last commit leaves no work for the next one.
        position = records;
      }
    }
    assert(kills > 0);
    await assertFigures(storeFile);
  });

  it('counts every record once if the aggregator thread is terminated at any point', async () => {
    const analyticsStoreFile = join(folder, 'terminated.sqlite');
    const progress = new SharedProgress();
    let terminations = 0;
    while (progress.projectedPosition < records) {
      // Limits the work, so that a fast thread cannot finish before it is terminated.
      progress.durablePosition = Math.min(records, progress.projectedPosition + Math.ceil(records / 4));
      const workerData: AggregatorWorkerData = { files: { ...files, analyticsStoreFile }, progress: progress.buffer };
      const worker = new Worker(new URL('../../workers/aggregator.ts', import.meta.url), { workerData });
      const exited = once(worker, 'exit');
      const position = progress.projectedPosition;
      // The thread id is -1 if the thread exited by itself, which is an error.
      while (progress.projectedPosition <= position && worker.threadId !== -1) await pause(1);
      assert.notEqual(worker.threadId, -1);
      await pause(Math.random() * 30);
      await worker.terminate();
      await exited;
      terminations++;
    }
    assert(terminations >= 4);
    await assertFigures(analyticsStoreFile);
  });
});
