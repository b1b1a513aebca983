import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { Encoder } from '@msgpack/msgpack';
import { LedgerFollower } from '../../src/analytics/ledger-follower.ts';
import { openEventLog } from '../../src/event-log/file-event-log.ts';
import { RecordDecoder } from '../../src/event-log/log-format.ts';
import { FrameGroup } from '../../src/event-log/segment-writer.ts';
import { dataPaths } from '../../src/files/data-paths.ts';
import type { SessionCreatedRecord } from '../../src/ledger/ledger-record.ts';
import { oneMonthLedger, writeSampleLedger } from '../history/sample-ledger.ts';
import { createTemporaryFolder } from '../target/owned-resources.ts';
import { createLedgerRecords } from './fixtures.ts';
import { createPerItemBenchmark, type MicroBenchmark } from './micro-benchmark.ts';

const recordCount = 999;

function encodedRecords(): Uint8Array[] {
  const encoder = new Encoder();
  return createLedgerRecords(recordCount).map((record) => encoder.encode(record));
}

export const ledgerRecordBenchmarks: readonly MicroBenchmark[] = [
  createPerItemBenchmark('ledger/ledger-record: encode a record', () => {
    const encoder = new Encoder();
    return { items: createLedgerRecords(recordCount), run: (record) => encoder.encodeSharedRef(record).length };
  }),
  createPerItemBenchmark('event-log/log-format: decode a record', () => {
    const decoder = new RecordDecoder();
    return { items: encodedRecords(), run: (payload) => decoder.decodeRecord(payload).length };
  }),
  createPerItemBenchmark('event-log/log-format: encode a frame', () => {
    let position = 0;
    const group = new FrameGroup();
    return {
      items: encodedRecords(),
      run: (payload) => {
        group.clearFrames();
        group.add(payload, ++position, group.lastCrc, true);
        return group.length;
      },
    };
  }),
];

/** Benchmarks that append session records to the log without a sync to disk. Concurrent callers share one write. */
export const ledgerAppendBenchmarks: readonly MicroBenchmark[] = [64, 1_024].map((calls) => ({
  name: `event-log/file-event-log: append without sync, ${calls.toLocaleString('en-US')} concurrent callers`,
  prepare: async ({ folder }) => {
    const owned = await createTemporaryFolder(folder, 'log-');
    const log = await openEventLog({ folder: join(owned.path, 'ledger'), durability: 'write' });
    const record: SessionCreatedRecord = [1, 1_760_000_000_000, randomBytes(32), 'bench_variant-a', 12, 1, null];
    return {
      calls,
      run: async () => {
        const waiting = Array.from({ length: calls }, () => log.append(record)!.durable);
        await Promise.all(waiting);
        return log.durablePosition;
      },
      close: async () => {
        await log.close();
        await owned.remove();
      },
    };
  },
}));

const sessionCounts = { full: 10_000, quick: 4_000 };

export const analyticsUpdateBenchmark: MicroBenchmark = {
  name: 'analytics/ledger-follower: apply a record',
  prepare: async ({ folder, quick }) => {
    const owned = await createTemporaryFolder(folder, 'projection-');
    const files = dataPaths(owned.path);
    const sessions = quick ? sessionCounts.quick : sessionCounts.full;
    const records = await writeSampleLedger(files.ledgerFolder, oneMonthLedger(sessions));
    let follower: LedgerFollower | null = null;
    const deleteStore = (): void => {
      follower?.close();
      for (const end of ['', '-wal', '-shm']) rmSync(files.analyticsStoreFile + end, { force: true });
    };
    return {
      calls: records,
      beforeEach: () => {
        deleteStore();
        follower = new LedgerFollower(files, (reason) => {
          throw new Error(reason);
        });
      },
      run: () => {
        while (follower!.appliedPosition < records) follower!.applyBatch(records);
        return follower!.appliedPosition;
      },
      close: async () => {
        deleteStore();
        await owned.remove();
      },
    };
  },
};
