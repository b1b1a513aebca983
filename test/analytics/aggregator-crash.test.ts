import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type { AggregatorWorkerData } from '../../src/analytics/aggregator-protocol.ts';
import { AnalyticsStore } from '../../src/analytics/analytics-store.ts';
import { CounterArchive } from '../../src/analytics/counter-archive.ts';
import { AggregatorProgress } from '../../src/analytics/shared-progress.ts';
import { ThreadAnalytics } from '../../src/analytics/thread-analytics.ts';
import { bounds } from '../../src/bounds.ts';
import { openEventLog } from '../../src/event-log/file-event-log.ts';
import { dataPaths } from '../../src/files/data-paths.ts';
import type { LedgerRecord } from '../../src/ledger/ledger-record.ts';
import {
  experimentDefinedRecord,
  offerClickedRecord,
  offersViewedRecord,
  sessionCreatedRecord,
  subIdBytes,
} from '../support/ledger-records.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { AnalyticsModel } from './analytics-model.ts';
import { ProjectedStore } from './projected-store.ts';
import { byTag, noon, today } from './sample-query.ts';

const sessions = 9_000;

const experimentSub = subIdBytes({ createdMs: noon, serial: 0 });
/** One experiment counts its sessions as they come; the other is created after them. */
const experiments = [
  experimentDefinedRecord(experimentSub, 'early', { startsOn: today - 1, unit: 'session' }),
  experimentDefinedRecord(experimentSub, 'late', { startsOn: today - 1, unit: 'visitor' }),
] as const;

/** Views and clicks follow thousands of records after the creation of their session, in another batch. */
function* ledger(): Generator<LedgerRecord, void> {
  const sub = (serial: number) => subIdBytes({ createdMs: noon + serial, serial });
  yield experiments[0];
  for (let serial = 0; serial < sessions + 6_000; serial++) {
    if (serial < sessions)
      yield sessionCreatedRecord(sub(serial), {
        tag: ['tag-one', 'tag-two', 'tag-three'][serial % 3]!,
        device: (serial % 5) as 0,
        unit: `visitor-${serial % 4_000}`,
      });
    const viewed = serial - 3_000;
    if (viewed >= 0 && viewed < sessions) yield offersViewedRecord(sub(viewed), [`offer-${viewed % 7}`, 'offer-x']);
    const clicked = serial - 6_000;
    if (clicked >= 0 && clicked % 2 === 0) yield offerClickedRecord(sub(clicked), `offer-${clicked % 7}`);
    if (clicked >= 0 && clicked % 6 === 0) yield offerClickedRecord(sub(clicked), 'offer-x');
    if (clicked >= 0 && clicked % 4 === 0) yield offerClickedRecord(sub(clicked), `offer-${clicked % 7}`);
  }
  yield experiments[1];
}

// Killed processes: test/crash.
test('counts every record once, even if the aggregator thread is terminated at any point', async (t) => {
  const folder = temporaryFolder(t);
  const files = dataPaths(folder);
  const model = new AnalyticsModel();
  const log = await openEventLog({ folder: files.ledgerFolder, durability: 'write' });
  for (const record of ledger()) {
    model.record(record);
    // Waits for every 500th record, so that the pending records stay within the log's bounds.
    if (log.lastAppendedPosition % 500 === 0) await log.append(record)!.durable;
    else assert(log.appendWithoutWaiting(record));
  }
  const records = log.lastAppendedPosition;
  await log.close();
  assert(records > 3 * bounds.projectionBatchRecordsMax);

  const openStore = () => new AnalyticsStore(files.analyticsStoreFile, new CounterArchive(files.archiveFolder));
  const progress = new AggregatorProgress();
  let terminations = 0;
  let isFilling = false;
  while (progress.appliedPosition < records || isFilling) {
    // Limits the work, so that a fast thread cannot finish before it is terminated.
    progress.durablePosition = Math.min(records, progress.appliedPosition + Math.ceil(records / 8));
    const workerData: AggregatorWorkerData = { files, progress: progress.buffer };
    const worker = new Worker(new URL('../../workers/aggregator.ts', import.meta.url), { workerData });
    const exited = once(worker, 'exit');
    const position = progress.appliedPosition;
    // The thread id is -1 if the thread exited by itself, which is an error.
    if (position === records) await once(worker, 'message');
    else while (progress.appliedPosition <= position && worker.threadId !== -1) await pause(1);
    assert.notEqual(worker.threadId, -1);
    await pause(Math.random() * 60);
    await worker.terminate();
    await exited;
    terminations++;
    const store = openStore();
    isFilling = store.fill.isRunning;
    store.close();
  }
  assert(terminations >= 9);

  const expected = new ProjectedStore();
  t.after(() => expected.close());
  expected.apply(...ledger());
  while (expected.store.fill.isRunning) expected.store.fill.countSlice();
  const store = openStore();
  for (const [, , , name] of experiments) {
    const query = { account: 1, vertical: 1, mode: 'live', name, asOf: today } as const;
    assert.deepEqual(store.readExperimentFigures(query), expected.store.readExperimentFigures(query));
  }
  store.close();

  const analytics = await ThreadAnalytics.start({
    files,
    log: { durablePosition: records, lastAppendedPosition: records, healthy: true },
  });
  t.after(() => analytics.close());
  for (const referrerTag of ['tag-one', 'tag-two', 'tag-three']) {
    const query = { ...byTag, referrerTag };
    assert.deepEqual(await analytics.getSummary(query), model.summary(query));
  }
  assert.deepEqual({ ...(await analytics.getRecordCounts()) }, model.totals);
});
