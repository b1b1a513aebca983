import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { LedgerFollower } from '../../src/analytics/ledger-follower.ts';
import { dataPaths } from '../../src/files/data-paths.ts';
import { createMarketplace } from '../../src/index.ts';
import type { BenchContext, BenchPart } from '../bench-part.ts';
import { runChildProcess, stopChildProcess } from '../target/owned-resources.ts';
import { createApiKeys, serveDataDir } from '../target/service-target.ts';
import { writeLiveSessions } from '../target/write-live-sessions.ts';
import { measurePauses, pausesLoad, stopTimeoutMs, waitForAnalytics } from './measure-pauses.ts';
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
const targetSecondsPerMillion = 2;
/** Sessions since the last snapshot, as a share of the live ones: those of a minute, of the four hours that a session lives. */
const shareSinceSnapshot = 1 / 240;

/** Measures starts with live sessions and their inputs: from the logs alone, from a snapshot, and from a snapshot and later records. */
async function measureRestart(folder: string, sessions: number, rounds: number): Promise<LedgerMeasurement[]> {
  const measurements: LedgerMeasurement[] = [];
  let secondsWithoutSessions = 0;
  for (const share of [0, 0.25, 0.5, 1]) {
    const count = Math.round(sessions * share);
    const dataDir = join(folder, String(count));
    const key = await writeSessions(dataDir, count);
    const fromLogs = await measureStart(dataDir, sessions, key);
    const seconds: number[] = [];
    for (let round = 0; round < Math.min(restartRoundsMax, rounds); round++) {
      seconds.push(await measureStart(dataDir, sessions, key));
    }
    const [fastest, slowest] = [Math.min(...seconds), Math.max(...seconds)];
    if (count === 0) secondsWithoutSessions = fastest;
    const target = `at most ${(secondsWithoutSessions + (targetSecondsPerMillion * count) / 1_000_000).toFixed(1)} s`;
    measurements.push({
      name: `start with ${formatCount(count)} live sessions and their inputs, from a snapshot (from the logs)`,
      value: `${fastest.toFixed(1)} to ${slowest.toFixed(1)} s (${fromLogs.toFixed(1)} s)`,
      ...(count > 0 && { target }),
    });
    if (share < 1) continue;
    measurements.unshift(...(await measureBackups(dataDir, sessions)));
    const later = Math.ceil(count * shareSinceSnapshot);
    await writeLiveSessions(dataDir, { count: later, keys: keysFor(count), fields: 'all', sampleSize: 0 });
    measurements.push({
      name: `the same, with ${formatCount(later)} of them since the last snapshot, as after kill -9`,
      value: `${(await measureStart(dataDir, sessions + later, key)).toFixed(1)} s`,
      target,
    });
    const bytes = await Promise.all(['ledger', 'journal'].map((name) => folderBytes(join(dataDir, name))));
    measurements.push({
      name: 'bytes per session with inputs, ledger and journal with its snapshot',
      value: bytes.map((each) => Math.round(each / sessions)).join(' and '),
    });
  }
  return measurements;
}

/** Creates a data folder with keys and live sessions, and without a snapshot. Returns a key. */
async function writeSessions(dataDir: string, count: number): Promise<string> {
  const keys = keysFor(count);
  const [key] = await createApiKeys(dataDir, keys);
  await writeLiveSessions(dataDir, { count, keys, fields: 'all', sampleSize: 0 });
  return key!;
}

function keysFor(sessions: number): number {
  return Math.max(1, Math.ceil(sessions / sessionsPerKey));
}

/**
 * Starts and stops a service process, and returns the time until `/readyz` in seconds. The stop saves a snapshot. Before it, the analytics
 * have applied all sessions, because the next start would wait for them for up to two seconds.
 */
async function measureStart(dataDir: string, maxSessions: number, key: string): Promise<number> {
  const settings = { SVC_MAX_SESSIONS: String(maxSessions) };
  const { child, startSeconds, port } = await serveDataDir(dataDir, { settings });
  await waitForAnalytics(port, key);
  await stopChildProcess(child, stopTimeoutMs);
  return startSeconds;
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

/** Measures how long requests wait while the service writes its first snapshot, and while it reads the ledger for a reload. */
async function measureRequests(
  folder: string,
  sessions: number,
  _rounds: number,
  context: BenchContext,
): Promise<LedgerMeasurement[]> {
  const { idle, snapshot, reload, reloadSeconds } = await measurePauses(context, folder, sessions);
  const format = ({ p99Ms, loopDelayP99Ms }: typeof idle) => `${p99Ms.toFixed(1)} and ${loopDelayP99Ms.toFixed(1)} ms`;
  return [
    {
      name: `${pausesLoad} with ${formatCount(sessions)} live sessions, p99 of latency and event loop delay`,
      value: format(idle),
    },
    {
      name: 'the same while the first snapshot is written',
      value: format(snapshot),
      target: 'delay at most 5 ms',
    },
    {
      name: `the same while a reload reads the ledger for the first daily caps, which takes ${reloadSeconds.toFixed(0)} s`,
      value: format(reload),
      target: `latency at most ${(1.5 * idle.p99Ms).toFixed(1)} ms`,
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
  measure: async (context) => {
    const { scale, folder: parent, progress } = context;
    const history: LedgerMeasurement[] = [];
    for (const measure of [measureRestart, measureRequests, measureProjection, measureRetention]) {
      progress.printProgress(`history: ${measure.name}`);
      const folder = await mkdtemp(join(parent, 'history-'));
      try {
        history.push(...(await measure(folder, scale.sessionsMax, scale.rounds, context)));
      } finally {
        await rm(folder, { recursive: true });
      }
    }
    return { history };
  },
};
