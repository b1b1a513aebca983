import { mkdtemp, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type FileEventLog, openEventLog } from '../../src/events/file-event-log.ts';
import { createdRecord, subOf } from '../../test/support/ledger-records.ts';
import { summarize } from '../statistics.ts';
import type { HistoryFigure, HistoryMeasure, HistoryScale } from './history.ts';

const callerCounts = [1, 64, 256] as const;
const sampleRecord = createdRecord(subOf({ createdMs: 1_790_000_000_000, serial: 1 }));

/** Sessions appended and waited for by many callers at once, against one plain write and sync after the other. */
export const durableAppendsMeasure: HistoryMeasure = {
  name: 'events/file-event-log: durable records a second',
  async measure({ folder, rounds, seconds }: HistoryScale): Promise<HistoryFigure[]> {
    const own = await mkdtemp(join(folder, 'durable-'));
    const log = await openEventLog({ folder: join(own, 'ledger'), shard: 0, durability: 'fsync' });
    const plain: number[] = [];
    const grouped = callerCounts.map((): number[] => []);
    try {
      for (let round = 0; round < rounds; round++) {
        plain.push(await measurePlainWrites(join(own, `plain-${round}`), seconds));
        for (const [index, count] of callerCounts.entries()) grouped[index]!.push(await measureAppends(log, count, seconds));
      }
    } finally {
      await log.close();
      await rm(own, { recursive: true });
    }
    return callerCounts.map((count, index) => {
      const { median, lowest, highest } = summarize(grouped[index]!);
      const ratio = summarize(grouped[index]!.map((each, round) => each / plain[round]!)).median;
      return {
        name: `durable records a second, ${count} waiting at once`,
        value: `${formatRate(median)} (${formatRate(lowest)} to ${formatRate(highest)})`,
        beside: `${ratio.toFixed(1)} times one write and \`fdatasync\` after the other`,
      };
    });
  },
};

async function measureAppends(log: FileEventLog, count: number, seconds: number): Promise<number> {
  let appended = 0;
  const started = performance.now();
  const until = started + seconds * 1_000;
  await Promise.all(
    Array.from({ length: count }, async () => {
      while (performance.now() < until) {
        await log.append(sampleRecord);
        appended++;
      }
    }),
  );
  return appended / ((performance.now() - started) / 1_000);
}

/** As many bytes as a record has in the log, each made durable before the next. */
async function measurePlainWrites(path: string, seconds: number): Promise<number> {
  const bytes = Buffer.alloc(64, 1);
  const file = await open(path, 'w');
  let written = 0;
  const started = performance.now();
  const until = started + seconds * 1_000;
  while (performance.now() < until) {
    await file.write(bytes, 0, bytes.length, written * bytes.length);
    await file.datasync();
    written++;
  }
  await file.close();
  return written / ((performance.now() - started) / 1_000);
}

function formatRate(count: number): string {
  return Math.round(count).toLocaleString('en-US');
}
