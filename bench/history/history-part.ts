import { mkdtemp, open, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { LedgerFollower } from '../../src/analytics/ledger-follower.ts';
import { type FileEventLog, openEventLog } from '../../src/event-log/file-event-log.ts';
import { dataPaths } from '../../src/files/data-paths.ts';
import { createMarketplace, type Marketplace } from '../../src/index.ts';
import { sessionCreatedRecord, subIdBytes } from '../../test/support/ledger-records.ts';
import type { BenchPart } from '../bench-part.ts';
import { drawBorrower } from '../population/borrower.ts';
import { seededRandom } from '../population/random.ts';
import { summarize } from '../statistics.ts';
import { oneMonthLedger, writeSampleLedger } from './sample-ledger.ts';

/** Measured value about ledger, journal, restart or analytics. */
export interface HistoryMeasurement {
  readonly name: string;
  /** Formatted value with unit, and the range of the value over several rounds. */
  readonly value: string;
  /** Target value, or another value for comparison. */
  readonly beside: string;
  /** Bytes on disk per session, in the ledger and the analytics store. A session includes its view and its share of the clicks. */
  readonly bytesPerSession?: number;
}

interface HistoryScale {
  /** Number of sessions in the measured ledger. */
  readonly sessions: number;
  /** Duration of one round of a repeated measurement. */
  readonly seconds: number;
  readonly rounds: number;
  /** Empty folder on the measured disk, which is deleted afterwards. */
  readonly folder: string;
}

const callerCounts = [1, 64, 256] as const;
const sampleRecord = sessionCreatedRecord(subIdBytes({ createdMs: 1_790_000_000_000, serial: 1 }));

/** Measures concurrent durable appends of sessions, compared with sequential writes and syncs. */
async function measureDurableAppends({ folder, rounds, seconds }: HistoryScale): Promise<HistoryMeasurement[]> {
  const log = await openEventLog({ folder: join(folder, 'ledger'), durability: 'fsync' });
  const plain: number[] = [];
  const grouped = callerCounts.map((): number[] => []);
  for (let round = 0; round < rounds; round++) {
    plain.push(await measurePlainWrites(join(folder, `plain-${round}`), seconds));
    for (const [index, count] of callerCounts.entries())
      grouped[index]!.push(await measureAppends(log, count, seconds));
  }
  await log.close();
  return callerCounts.map((count, index) => {
    const { median, lowest, highest } = summarize(grouped[index]!);
    const ratio = summarize(grouped[index]!.map((each, round) => each / plain[round]!)).median;
    return {
      name: `durable records a second, ${count} waiting at once`,
      value: `${formatCount(median)} (${formatCount(lowest)} to ${formatCount(highest)})`,
      beside: `${ratio.toFixed(1)} times one write and \`fdatasync\` after the other`,
    };
  });
}

async function measureAppends(log: FileEventLog<readonly unknown[]>, count: number, seconds: number): Promise<number> {
  let appended = 0;
  const started = performance.now();
  const until = started + seconds * 1_000;
  await Promise.all(
    Array.from({ length: count }, async () => {
      while (performance.now() < until) {
        await log.append(sampleRecord)!.durable;
        appended++;
      }
    }),
  );
  return appended / ((performance.now() - started) / 1_000);
}

/** Writes and syncs records of the same size one after the other. */
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

function formatCount(count: number): string {
  return Math.round(count).toLocaleString('en-US');
}

/** Number of concurrent session creations, so that sessions share log commits like under load. */
const concurrentCreators = 500;
const sessionsPerKey = 10_000;
const targetSeconds = 10;

/** Creates live sessions with inputs through the functions of the service, then measures a start on the same folder. */
async function measureRestart({ folder: dataDir, rounds, sessions }: HistoryScale): Promise<HistoryMeasurement[]> {
  const limits = { sessionsPerDay: sessionsPerKey };
  const openService = () => createMarketplace({ dataDir, maxSessions: sessions, durability: 'write', limits });
  await createSessions(await openService(), sessions);
  const seconds: number[] = [];
  for (let round = 0; round < Math.min(3, rounds); round++) {
    const started = performance.now();
    const marketplace = await openService();
    seconds.push((performance.now() - started) / 1_000);
    await marketplace.close();
  }
  const bytes = await Promise.all(['ledger', 'journal'].map((name) => folderBytes(join(dataDir, name))));
  return [
    {
      name: `start with ${formatCount(sessions)} live sessions and their inputs`,
      value: `${Math.min(...seconds).toFixed(1)} to ${Math.max(...seconds).toFixed(1)} s`,
      beside: `at most ${targetSeconds} s for a million`,
    },
    {
      name: 'ledger and journal for each of them',
      value: bytes.map((each) => `${Math.round(each / sessions)} bytes`).join(' and '),
      beside: '-',
    },
  ];
}

async function createSessions(marketplace: Marketplace, sessions: number): Promise<void> {
  const random = seededRandom(3);
  const borrowers = Array.from({ length: 1_000 }, () => drawBorrower(random));
  const newKey = { account: 'restart', vertical: 'personal-loans', mode: 'live' } as const;
  const limits = { requestsPerMinute: 1_000_000 };
  const partners = Array.from({ length: Math.ceil(sessions / sessionsPerKey) }, () =>
    marketplace.partner(marketplace.keys.create({ ...newKey, limits }).key),
  );
  let made = 0;
  await Promise.all(
    Array.from({ length: concurrentCreators }, async () => {
      while (made < sessions) {
        const number = made++;
        const partner = partners[Math.floor(number / sessionsPerKey)]!;
        const session = await partner.createSession({ referrer_tag: 'restart', metadata: { page: number % 100 } });
        if (!session.ok) throw new Error(`session not created: ${session.error.message}`);
        const fields = { ...borrowers[number % borrowers.length]! };
        const inputs = await partner.submitInputs({ sub_id: session.value.sub_id, fields });
        if (!inputs.ok) throw new Error(`inputs rejected: ${inputs.error.message}`);
      }
    }),
  );
  await marketplace.close();
}

const targetRecordsPerSecond = 150_000;

/** Measures the projection of the sample ledger into an analytics store. */
async function measureProjection({ folder, sessions }: HistoryScale): Promise<HistoryMeasurement[]> {
  const files = dataPaths(folder);
  const records = await writeSampleLedger(files.ledgerFolder, oneMonthLedger(sessions));
  const follower = new LedgerFollower(files, () => {});
  const started = performance.now();
  while (follower.projectedPosition < records) follower.applyBatch(records);
  const seconds = (performance.now() - started) / 1_000;
  follower.close();
  const storeBytes = (await stat(files.analyticsStoreFile)).size;
  return [
    {
      name: `records folded a second, ${formatCount(records)} in all`,
      value: formatCount(records / seconds),
      beside: `at least ${formatCount(targetRecordsPerSecond)}`,
    },
    {
      name: 'analytics store for a million sessions',
      value: `${Math.round(storeBytes / sessions)} MB`,
      beside: '-',
      bytesPerSession: (storeBytes + (await folderBytes(files.ledgerFolder))) / sessions,
    },
  ];
}

/** Returns the total size of the files of a folder in bytes. */
async function folderBytes(folder: string): Promise<number> {
  const names = await readdir(folder, { recursive: true });
  const sizes = await Promise.all(names.map(async (name) => (await stat(join(folder, name))).size));
  return sizes.reduce((sum, size) => sum + size, 0);
}

export const historyPart: BenchPart = {
  name: 'history',
  description: 'durable appends, restart and counters',
  measure: async ({ scale: { rounds, seconds, historySessions: sessions }, folder: parent, progress }) => {
    const history: HistoryMeasurement[] = [];
    for (const measure of [measureDurableAppends, measureRestart, measureProjection]) {
      progress.showStep(`history: ${measure.name}`);
      const folder = await mkdtemp(join(parent, 'history-'));
      try {
        history.push(...(await measure({ rounds, seconds, sessions, folder })));
      } finally {
        await rm(folder, { recursive: true });
      }
    }
    return { history };
  },
};
