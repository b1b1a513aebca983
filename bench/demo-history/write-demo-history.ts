import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { LedgerFollower } from '../../src/analytics/ledger-follower.ts';
import { dayStartMs, formatIsoDate } from '../../src/domain/calendar.ts';
import { systemClock } from '../../src/domain/clock.ts';
import type { Vertical } from '../../src/domain/vertical.ts';
import { type FileEventLog, openEventLog } from '../../src/event-log/file-event-log.ts';
import { dataPaths } from '../../src/files/data-paths.ts';
import { lockFolder } from '../../src/files/folder-lock.ts';
import { SubIds } from '../../src/ids/sub-id.ts';
import { UnitHasher } from '../../src/ids/unit-hasher.ts';
import { createMarketplace, type ExperimentInput } from '../../src/index.ts';
import type { LedgerRecord } from '../../src/ledger/ledger-record.ts';
import { RandomBytesPool } from '../../src/secrets/random-pool.ts';
import { openOrCreateSecretFile } from '../../src/secrets/secret-file.ts';
import { type DemoExperiment, demoExperiments } from './demo-experiments.ts';
import { DemoRecords } from './demo-records.ts';
import { VerticalHistory } from './vertical-history.ts';

export const historyDays = 90;
const account = 'demo';
/** Number of records that are appended before each wait, below the limit of the log. */
const appendBatchSize = 5_000;
/** Share of the work that writing the ledger takes; the analytics store takes the rest. */
const writingShare = 0.5;
/** Days by which the planned end of an experiment follows the history. */
const daysToEnd = 10;

export interface DemoHistory {
  readonly firstDay: number;
  readonly sessions: number;
  /** Live keys, one for each vertical. */
  readonly keys: readonly { readonly vertical: Vertical; readonly key: string }[];
}

interface DemoHistoryOptions {
  /** Folder to create. */
  readonly dataDir: string;
  readonly verticals: readonly Vertical[];
  /** Last day of the history, in days since 1970-01-01 UTC. */
  readonly lastDay: number;
  /** Called with the share of the work that was just finished. */
  readonly onProgress: (share: number) => void;
  readonly signal: AbortSignal;
}

/**
 * Creates a data folder that contains 90 days of sessions, clicks, payouts and experiments in each vertical, and its analytics store. The
 * folder has a test clock, so no server takes it for a real one. Rejects if the folder exists. Deletes the folder after a failure.
 */
export async function writeDemoHistory(options: DemoHistoryOptions): Promise<DemoHistory> {
  const { dataDir } = options;
  if (existsSync(dataDir)) throw new Error(`${dataDir} exists; delete it, or choose another folder`);
  try {
    return await writeNewFolder(options);
  } catch (error) {
    await rm(dataDir, { recursive: true, force: true });
    throw error;
  }
}

async function writeNewFolder(options: DemoHistoryOptions): Promise<DemoHistory> {
  const { dataDir, verticals, lastDay, onProgress, signal } = options;
  const firstDay = lastDay - historyDays + 1;
  const keys = await createFolder(dataDir, verticals, firstDay, lastDay);
  const lock = lockFolder(dataDir);
  try {
    const { ledgerFolder } = dataPaths(dataDir);
    const secrets = openOrCreateSecretFile(join(dataDir, 'secrets.json'), true);
    const records = new DemoRecords(firstDay, historyDays);
    const ids = { subIds: new SubIds(secrets, new RandomBytesPool()), unitHasher: new UnitHasher(secrets.unitKey!) };
    const histories = keys.map(
      ({ vertical, issued }) =>
        new VerticalHistory({ vertical, account: issued.account, keyNumber: issued.number, records, ...ids }),
    );
    let sessions = 0;
    const log = await openEventLog<LedgerRecord>({ folder: ledgerFolder, durability: 'fsync' });
    try {
      for (let day = firstDay; day <= lastDay; day++) {
        for (const history of histories) sessions += history.addDay(day);
        await appendRecords(log, records.takeDay(day));
        onProgress(writingShare / historyDays);
        signal.throwIfAborted();
      }
    } finally {
      await log.close();
    }
    await buildAnalyticsStore(dataDir, log.lastAppendedPosition, onProgress, signal);
    return { firstDay, sessions, keys };
  } finally {
    lock.release();
  }
}

/** Creates the folder with a service whose clock shows the first day, and in each vertical a live key and the experiments. */
async function createFolder(dataDir: string, verticals: readonly Vertical[], firstDay: number, lastDay: number) {
  const clock = { wallMs: () => dayStartMs(firstDay), monotonicMs: () => systemClock.monotonicMs() };
  const urls = { click: 'https://go.example' };
  const marketplace = await createMarketplace({ dataDir, testClock: true, clock, matcherThreads: 0, urls });
  try {
    const keys = [];
    for (const vertical of verticals) {
      const { key, id } = marketplace.keys.create({ account, vertical: vertical.segment, mode: 'live' });
      const issued = marketplace.keys.list().find((each) => each.id === id)!;
      keys.push({ vertical, key, issued });
      for (const experiment of demoExperiments) {
        const definition = toDefinition(experiment, firstDay, lastDay + daysToEnd);
        const defined = await marketplace.partnerApi(key, vertical.segment).defineExperiment(definition);
        if (!defined.ok) throw new Error(`experiment ${experiment.name}: ${defined.error.message}`);
      }
    }
    return keys;
  } finally {
    await marketplace.close();
  }
}

function toDefinition(
  { name, arms, unit, minEffectPercent, hypothesis, hasEnd }: DemoExperiment,
  startsOn: number,
  endsOn: number,
): ExperimentInput {
  return {
    name,
    arms: arms.map(({ tag, label }) => ({ referrer_tag: tag, weight: 1 / arms.length, label })),
    control: arms[0].tag,
    unit,
    assignment: unit === 'visitor' ? 'hash' : 'own',
    starts_on: formatIsoDate(startsOn),
    ends_on: hasEnd ? formatIsoDate(endsOn) : null,
    min_effect_percent: minEffectPercent,
    hypothesis,
    dimensions: ['campaign'],
  };
}

async function appendRecords(log: FileEventLog<LedgerRecord>, records: readonly LedgerRecord[]): Promise<void> {
  for (const [index, record] of records.entries()) {
    const appended = log.append(record);
    if (appended === null) throw new Error('the ledger cannot be written');
    if (index % appendBatchSize === 0 || index === records.length - 1) await appended.durable;
  }
}

/** Applies the records of the ledger to the analytics store, so that the first start of a server takes no longer than later ones. */
async function buildAnalyticsStore(
  dataDir: string,
  lastPosition: number,
  onProgress: DemoHistoryOptions['onProgress'],
  signal: AbortSignal,
): Promise<void> {
  const follower = new LedgerFollower(dataPaths(dataDir), () => {});
  try {
    for (let applied = 0; applied < lastPosition; applied = follower.appliedPosition) {
      follower.applyBatch(lastPosition);
      onProgress(((1 - writingShare) * (follower.appliedPosition - applied)) / lastPosition);
      signal.throwIfAborted();
      await nextTurn();
    }
    while (follower.hasSessionsToFill) follower.fillExperiments();
  } finally {
    follower.close();
  }
}
