import { mkdtemp, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type FileEventLog, openEventLog } from '../../src/event-log/file-event-log.ts';
import { createMarketplace, type Marketplace } from '../../src/index.ts';
import { createdRecord, subOf } from '../../test/support/ledger-records.ts';
import type { BenchPart } from '../bench-part.ts';
import { drawBorrower } from '../population/borrower.ts';
import { seededRandom } from '../population/random.ts';
import { summarize } from '../statistics.ts';
import { folderBytes, type HistoryFigure, type HistoryMeasure, type HistoryScale } from './history-measure.ts';
import { projectionMeasure } from './ledger-projection.ts';

const callerCounts = [1, 64, 256] as const;
const sampleRecord = createdRecord(subOf({ createdMs: 1_790_000_000_000, serial: 1 }));

/** Measures concurrent durable appends of sessions, compared with sequential writes and syncs. */
const durableAppendsMeasure: HistoryMeasure = {
  name: 'event-log/file-event-log: durable records per second',
  async measure({ folder, rounds, seconds }: HistoryScale): Promise<HistoryFigure[]> {
    const own = await mkdtemp(join(folder, 'durable-'));
    const log = await openEventLog({ folder: join(own, 'ledger'), durability: 'fsync' });
    const plain: number[] = [];
    const grouped = callerCounts.map((): number[] => []);
    try {
      for (let round = 0; round < rounds; round++) {
        plain.push(await measurePlainWrites(join(own, `plain-${round}`), seconds));
        for (const [index, count] of callerCounts.entries())
          grouped[index]!.push(await measureAppends(log, count, seconds));
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

function formatRate(count: number): string {
  return Math.round(count).toLocaleString('en-US');
}

/** Number of concurrent session creations, so that sessions share log commits like under load. */
const concurrentCreators = 500;
const sessionsPerKey = 10_000;
const targetSeconds = 10;

/** Creates live sessions with inputs through the functions of the service, then measures a start on the same folder. */
const restartMeasure: HistoryMeasure = {
  name: 'restart with live sessions',
  async measure({ folder, rounds, sessions }: HistoryScale): Promise<HistoryFigure[]> {
    const dataDir = await mkdtemp(join(folder, 'restart-'));
    const open = (): Promise<Marketplace> =>
      createMarketplace({
        dataDir,
        maxSessions: sessions,
        durability: 'write',
        limits: { sessionsPerDay: sessionsPerKey },
      });
    try {
      await createSessions(await open(), sessions);
      const seconds: number[] = [];
      for (let round = 0; round < Math.min(3, rounds); round++) {
        const started = performance.now();
        const marketplace = await open();
        seconds.push((performance.now() - started) / 1_000);
        await marketplace.close();
      }
      const bytes = await Promise.all(['ledger', 'journal'].map((name) => folderBytes(join(dataDir, name))));
      const count = sessions.toLocaleString('en-US');
      return [
        {
          name: `start with ${count} live sessions and their inputs`,
          value: `${Math.min(...seconds).toFixed(1)} to ${Math.max(...seconds).toFixed(1)} s`,
          beside: `at most ${targetSeconds} s for a million`,
        },
        {
          name: 'ledger and journal for each of them',
          value: bytes.map((each) => `${Math.round(each / sessions)} bytes`).join(' and '),
          beside: '-',
        },
      ];
    } finally {
      await rm(dataDir, { recursive: true });
    }
  },
};

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

const historyMeasures: readonly HistoryMeasure[] = [durableAppendsMeasure, restartMeasure, projectionMeasure];

export const historyPart: BenchPart = {
  name: 'history',
  description: 'durable appends, restart and counters',
  measure: async ({ scale, folder, progress }) => {
    const { rounds, seconds, historySessions: sessions } = scale;
    const history: HistoryFigure[] = [];
    for (const { name, measure } of historyMeasures) {
      progress.step(`history: ${name}`);
      history.push(...(await measure({ rounds, seconds, sessions, folder })));
    }
    return { history };
  },
};
