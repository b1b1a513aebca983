import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { LedgerFollower } from '../../src/analytics/ledger-follower.ts';
import { dataPaths } from '../../src/files/data-paths.ts';
import { createMarketplace } from '../../src/index.ts';
import type { BenchPart } from '../bench-part.ts';
import { writeLiveSessions } from '../target/write-live-sessions.ts';
import { measureArchivedDay, tagsOfFirstDay } from './measure-retention.ts';
import { oneMonthLedger, writeSampleLedger } from './sample-ledger.ts';

/** Measurement of the ledger, the journal, a restart or the analytics store. */
export interface LedgerMeasurement {
  readonly name: string;
  /** Formatted value with unit, or the range of the values of several rounds. */
  readonly value: string;
  readonly target?: string;
  /** Bytes on disk per session in the ledger and the analytics store, including the records of views and clicks. */
  readonly bytesPerSession?: number;
}

function formatCount(count: number): string {
  return Math.round(count).toLocaleString('en-US');
}

const sessionsPerKey = 10_000;
const restartRoundsMax = 3;
const targetSeconds = 10;

/** Measures the start of a service with live sessions and their inputs. */
async function measureRestart(dataDir: string, sessions: number, rounds: number): Promise<LedgerMeasurement[]> {
  const keys = Math.ceil(sessions / sessionsPerKey);
  await writeLiveSessions(dataDir, { count: sessions, keys, fields: 'all', sampleSize: 0 });
  const seconds: number[] = [];
  for (let round = 0; round < Math.min(restartRoundsMax, rounds); round++) {
    const started = performance.now();
    const marketplace = await createMarketplace({
      dataDir,
      urls: { click: 'https://go.example' },
      maxSessions: sessions,
      durability: 'write',
    });
    seconds.push((performance.now() - started) / 1_000);
    await marketplace.close();
  }
  const bytes = await Promise.all(['ledger', 'journal'].map((name) => folderBytes(join(dataDir, name))));
  return [
    {
      name: `start with ${formatCount(sessions)} live sessions and their inputs`,
      value: `${Math.min(...seconds).toFixed(1)} to ${Math.max(...seconds).toFixed(1)} s`,
      target: `at most ${targetSeconds} s for a million`,
    },
    {
      name: 'bytes per session with inputs, ledger and journal',
      value: bytes.map((each) => Math.round(each / sessions)).join(' and '),
    },
  ];
}

const targetRecordsPerSecond = 150_000;

/** Measures how fast the records of a sample ledger are applied to an analytics store. */
async function measureProjection(folder: string, sessions: number): Promise<LedgerMeasurement[]> {
  const files = dataPaths(folder);
  const records = await writeSampleLedger(files.ledgerFolder, oneMonthLedger(sessions));
  const follower = new LedgerFollower(files, () => {});
  const started = performance.now();
  while (follower.appliedPosition < records) follower.applyBatch(records);
  const seconds = (performance.now() - started) / 1_000;
  follower.close();
  const storeBytes = (await stat(files.analyticsStoreFile)).size;
  return [
    {
      name: `projection of ${formatCount(records)} records, records per second`,
      value: formatCount(records / seconds),
      target: `at least ${formatCount(targetRecordsPerSecond)}`,
    },
    {
      name: 'analytics store for a million sessions',
      value: `${Math.round(storeBytes / sessions)} MB`,
      bytesPerSession: (storeBytes + (await folderBytes(files.ledgerFolder))) / sessions,
    },
  ];
}

const tagsPerSession = 0.4;

/** Measures how long queries wait while a day is archived of a store with many referrer tags that have no sessions on the day. */
async function measureRetention(folder: string, sessions: number): Promise<LedgerMeasurement[]> {
  const tags = sessions * tagsPerSession;
  const { archiveMs, before, meanwhile } = await measureArchivedDay(folder, tags);
  const format = (latencies: readonly number[]) =>
    [0.99, 1].map((share) => latencies[Math.ceil(share * latencies.length) - 1]!.toFixed(1)).join(' and ');
  return [
    {
      name: `archiving a day of ${formatCount(Math.min(tags, tagsOfFirstDay))} tags, of ${formatCount(tags)} in all`,
      value: `${(archiveMs / 1_000).toFixed(1)} s`,
    },
    { name: 'queries before, p99 and longest', value: `${format(before)} ms` },
    {
      name: 'queries meanwhile, p99 and longest',
      value: `${format(meanwhile)} ms`,
      target: 'p99 at most twice that before',
    },
  ];
}

/** Returns the total size of the files of a folder in bytes. */
async function folderBytes(folder: string): Promise<number> {
  const names = await readdir(folder, { recursive: true });
  const sizes = await Promise.all(names.map(async (name) => (await stat(join(folder, name))).size));
  return sizes.reduce((sum, size) => sum + size, 0);
}

export const ledgerBenchPart: BenchPart = {
  name: 'history',
  description: 'restart with live sessions, projection into the analytics store, and retention',
  measure: async ({ scale: { rounds, sessionsMax: sessions }, folder: parent, progress }) => {
    const history: LedgerMeasurement[] = [];
    for (const measure of [measureRestart, measureProjection, measureRetention]) {
      progress.printProgress(`history: ${measure.name}`);
      const folder = await mkdtemp(join(parent, 'history-'));
      try {
        history.push(...(await measure(folder, sessions, rounds)));
      } finally {
        await rm(folder, { recursive: true });
      }
    }
    return { history };
  },
};
