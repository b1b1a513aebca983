import { mkdtemp, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { LedgerFollower } from '../../src/analytics/ledger-follower.ts';
import { openEventLog } from '../../src/event-log/file-event-log.ts';
import { dataFiles } from '../../src/files/data-files.ts';
import type { LedgerRecord } from '../../src/ledger/ledger-record.ts';
import { clickedRecord, createdRecord, subOf, viewedRecord } from '../../test/support/ledger-records.ts';
import type { HistoryFigure, HistoryMeasure, HistoryScale } from './history-measure.ts';
import { folderBytes } from './history-measure.ts';

const targetPerSecond = 150_000;
const tagCount = 40;
const offerCount = 48;

/** Measures the projection of a ledger in which each session has a view of five offers and every second session a click. */
export const projectionMeasure: HistoryMeasure = {
  name: 'analytics/ledger-follower: records applied per second',
  async measure({ folder, sessions }: HistoryScale): Promise<HistoryFigure[]> {
    const own = await mkdtemp(join(folder, 'aggregator-'));
    const files = dataFiles(own);
    try {
      const records = await writeSampleLedger(files.ledgerFolder, sessions);
      const follower = new LedgerFollower(files, () => {});
      const started = performance.now();
      while (follower.projectedPosition < records) follower.applyBatch(records);
      const seconds = (performance.now() - started) / 1_000;
      follower.close();
      const storeBytes = (await stat(files.analyticsStoreFile)).size;
      return [
        {
          name: `records folded a second, ${records.toLocaleString('en-US')} in all`,
          value: Math.round(records / seconds).toLocaleString('en-US'),
          beside: `at least ${targetPerSecond.toLocaleString('en-US')}`,
        },
        {
          name: 'analytics store for a million sessions',
          value: `${Math.round(storeBytes / sessions)} MB`,
          beside: '-',
          bytesPerSession: (storeBytes + (await folderBytes(files.ledgerFolder))) / sessions,
        },
      ];
    } finally {
      await rm(own, { recursive: true });
    }
  },
};

/** Writes a month of sessions with their views and clicks. Returns the number of records. */
export async function writeSampleLedger(folder: string, sessions: number): Promise<number> {
  const log = await openEventLog({ folder, durability: 'write' });
  const startMs = Date.UTC(2026, 0, 1);
  const spacingMs = Math.max(1, Math.floor((30 * 24 * 60 * 60 * 1000) / sessions));
  const sub = (serial: number) => subOf({ createdMs: startMs + serial * spacingMs, serial });
  const write = async (record: LedgerRecord) => {
    // Waits for some records, so that the number of pending records stays below the limit of the log.
    if (log.appendedPosition % 500 === 0) await log.append(record)!.durable;
    else log.appendWithoutWaiting(record);
  };
  for (let serial = 0; serial < sessions + 200; serial++) {
    if (serial < sessions) await write(createdRecord(sub(serial), { tag: `tag-${serial % tagCount}` }));
    const viewed = serial - 100;
    if (viewed >= 0 && viewed < sessions) await write(viewedRecord(sub(viewed), offersShownTo(viewed)));
    const clicked = serial - 200;
    if (clicked >= 0 && clicked % 2 === 0)
      await write(clickedRecord(sub(clicked), offersShownTo(clicked)[clicked % 5]!));
  }
  const records = log.appendedPosition;
  await log.close();
  return records;
}

function offersShownTo(serial: number): string[] {
  return Array.from({ length: 5 }, (_, place) => `offer-${(serial * 7 + place) % offerCount}`);
}
