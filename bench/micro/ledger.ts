import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { Encoder } from '@msgpack/msgpack';
import { LedgerFollower } from '../../src/analytics/ledger-follower.ts';
import { openEventLog } from '../../src/event-log/file-event-log.ts';
import { encodeMarkedFrame, frameCrc, RecordDecoder } from '../../src/event-log/log-format.ts';
import { dataFiles } from '../../src/files/data-files.ts';
import type { SessionCreated } from '../../src/ledger/ledger-record.ts';
import { writeSampleLedger } from '../history/ledger-projection.ts';
import { createOwnedFolder } from '../target/owned-resources.ts';
import { randomRecords } from './fixtures.ts';
import type { MicroBenchmark } from './micro-benchmark.ts';

const recordDecoderCalls = 999;

export const recordDecoderBenchmarks: readonly MicroBenchmark[] = [
  {
    name: 'ledger/ledger-record: encode',
    call: 'one record to msgpack; sessions, views of five offers and clicks in turn',
    prepare: () => {
      const records = randomRecords(recordDecoderCalls);
      const encoder = new Encoder();
      return {
        calls: recordDecoderCalls,
        run: () => {
          let bytes = 0;
          for (const record of records) bytes += encoder.encodeSharedRef(record).length;
          return bytes;
        },
      };
    },
  },
  {
    name: 'event-log/log-format: decode',
    call: 'one record from msgpack, bounds looked at; sessions, views of five offers and clicks in turn',
    prepare: () => {
      const encoder = new Encoder();
      const payloads = randomRecords(recordDecoderCalls).map((record) => encoder.encode(record));
      const decoder = new RecordDecoder();
      return {
        calls: recordDecoderCalls,
        run: () => {
          let items = 0;
          for (const payload of payloads) items += decoder.decode(payload).length;
          return items;
        },
      };
    },
  },
];

const logFormatCalls = 999;

function randomPayloads(): Uint8Array[] {
  const encoder = new Encoder();
  return randomRecords(logFormatCalls).map((record) => encoder.encode(record));
}

export const logFormatBenchmarks: readonly MicroBenchmark[] = [
  {
    name: 'event-log/log-format: CRC of a frame',
    call: 'one record, its place in the chain and the CRC before it',
    prepare: () => {
      const payloads = randomPayloads();
      return {
        calls: logFormatCalls,
        run: () => {
          let crc = 0;
          for (const [at, payload] of payloads.entries()) crc = frameCrc(at + 1, crc, payload);
          return crc;
        },
      };
    },
  },
  {
    name: 'event-log/log-format: encode a frame',
    call: 'one record in a frame of its own, CRC included',
    prepare: () => {
      const payloads = randomPayloads();
      return {
        calls: logFormatCalls,
        run: () => {
          let previousCrc = 0;
          let bytes = 0;
          for (const [at, payload] of payloads.entries()) {
            const frame = encodeMarkedFrame(payload, at + 1, previousCrc);
            previousCrc = frame.crc;
            bytes += frame.bytes.length;
          }
          return bytes;
        },
      };
    },
  },
];

const groupSizes = [64, 1_024];
const durabilities = ['write', 'fsync'] as const;

/** Benchmarks of one session record in the log: encoded, framed, checksummed and written in a group, with and without sync. */
export const ledgerAppendBenchmarks: readonly MicroBenchmark[] = durabilities.flatMap((durability) =>
  groupSizes.map((calls) => ({
    name: `event-log/file-event-log: append, ${calls.toLocaleString('en-US')} sessions per group, ${durability === 'fsync' ? 'synced' : 'not synced'}`,
    call: `one of ${calls.toLocaleString('en-US')} callers that wait for the same group`,
    prepare: async ({ folder }) => {
      const owned = await createOwnedFolder(folder, 'log-');
      const log = await openEventLog({ folder: join(owned.path, 'ledger'), durability });
      const record: SessionCreated = [1, 1_760_000_000_000, randomBytes(32), 'bench_variant-a', 12, 1, null];
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
  })),
);

const sessionCounts = { full: 10_000, quick: 4_000 };

export const projectionBenchmark: MicroBenchmark = {
  name: 'analytics/ledger-follower: apply sessions, views and clicks',
  call: 'one record: read, decoded, counted, and committed with its batch',
  prepare: async ({ folder, quick }) => {
    const owned = await createOwnedFolder(folder, 'fold-');
    const files = dataFiles(owned.path);
    const records = await writeSampleLedger(files.ledgerFolder, quick ? sessionCounts.quick : sessionCounts.full);
    let follower: LedgerFollower | null = null;
    const forget = (): void => {
      follower?.close();
      for (const end of ['', '-wal', '-shm']) rmSync(files.analyticsStoreFile + end, { force: true });
    };
    return {
      calls: records,
      beforeEach: () => {
        forget();
        follower = new LedgerFollower(files, (reason) => {
          throw new Error(reason);
        });
      },
      run: () => {
        while (follower!.projectedPosition < records) follower!.applyBatch(records);
        return follower!.projectedPosition;
      },
      close: async () => {
        forget();
        await owned.remove();
      },
    };
  },
};
