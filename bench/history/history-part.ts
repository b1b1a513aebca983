import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { LedgerFollower } from '../../src/analytics/ledger-follower.ts';
import { dataPaths } from '../../src/files/data-paths.ts';
import { createMarketplace } from '../../src/index.ts';
import type { BenchPart } from '../bench-part.ts';
import { runChildProcess } from '../target/owned-resources.ts';
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

const marketplaceCommand = fileURLToPath(new URL('../../bin/marketplace', import.meta.url));
const backupTimeoutMs = 600_000;
const sessionsPerKey = 10_000;
const restartRoundsMax = 3;
const targetSeconds = 10;

/** Measures the start of a service with live sessions and their inputs. */
async function measureRestart(dataDir: string, sessions: number, rounds: number): Promise<LedgerMeasurement[]> {
  const keys = Math.ceil(sessions / sessionsPerKey);
  // A start refuses sessions of keys that the key file does not have.
  const empty = await createMarketplace({ dataDir, urls: { click: 'https://go.example' } });
  for (let number = 0; number < keys; number++) {
    empty.keys.create({ account: 'bench', vertical: 'personal-loans', mode: 'live' });
  }
  await empty.close();
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
  const backups = await measureBackups(dataDir, sessions);
  return [
    ...backups,
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

/** Measures a backup, a second backup of the same data, and the start of a copy of it until the analytics answer. */
async function measureBackups(dataDir: string, sessions: number): Promise<LedgerMeasurement[]> {
  const [first, second] = [`${dataDir}-first`, `${dataDir}-second`];
  const measured: LedgerMeasurement[] = [];
  const measure = async (name: string, target: string, ...options: string[]) => {
    const started = performance.now();
    const env = { ...process.env, SVC_DATA_DIR: dataDir };
    await runChildProcess(marketplaceCommand, ['backup', target, ...options], { env, timeoutMs: backupTimeoutMs });
    const seconds = (performance.now() - started) / 1_000;
    const megabytes = (await folderBytes(target, { linked: false })) / 1e6;
    measured.push({ name, value: `${seconds.toFixed(1)} s, ${megabytes.toFixed(1)} MB` });
  };
  try {
    await measure(`backup of ${formatCount(sessions)} live sessions`, first);
    await measure('second backup of the same data, with the first as its base', second, '--base', first);
    const started = performance.now();
    const marketplace = await createMarketplace({
      dataDir: first,
      urls: { click: 'https://go.example' },
      maxSessions: sessions,
    });
    const { key } = marketplace.keys.create({ account: 'restored', vertical: 'personal-loans', mode: 'live' });
    while (!(await marketplace.partnerApi(key).queryAnalytics({ referrer_tag: 'a-tag' })).ok);
    const seconds = (performance.now() - started) / 1_000;
    await marketplace.close();
    return [
      ...measured,
      { name: 'start of the first backup until the analytics answer', value: `${seconds.toFixed(1)} s` },
    ];
  } finally {
    for (const folder of [first, second]) await rm(folder, { recursive: true, force: true });
  }
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

/** Returns the total size of the files of a folder in bytes, without those that other folders share if `linked` is false. */
async function folderBytes(folder: string, { linked = true } = {}): Promise<number> {
  const names = await readdir(folder, { recursive: true });
  const files = await Promise.all(names.map((name) => stat(join(folder, name))));
  return files.reduce((sum, { size, nlink }) => sum + (linked || nlink === 1 ? size : 0), 0);
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
