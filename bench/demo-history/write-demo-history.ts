import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { LedgerFollower } from '../../src/analytics/ledger-follower.ts';
import { dayStartMs, daysSinceEpoch, formatIsoDate } from '../../src/domain/calendar.ts';
import { systemClock } from '../../src/domain/clock.ts';
import type { Vertical } from '../../src/domain/vertical.ts';
import { type FileEventLog, openEventLog } from '../../src/event-log/file-event-log.ts';
import { dataPaths } from '../../src/files/data-paths.ts';
import { createPrivateFolder } from '../../src/files/durable-files.ts';
import { lockFolder } from '../../src/files/folder-lock.ts';
import { writeTestClockDays } from '../../src/files/test-clock-file.ts';
import { SubIds } from '../../src/ids/sub-id.ts';
import { UnitHasher } from '../../src/ids/unit-hasher.ts';
import { createMarketplace, type ExperimentInput, type Marketplace } from '../../src/index.ts';
import { type LedgerRecord, ledgerRecordKind } from '../../src/ledger/ledger-record.ts';
import { RandomBytesPool } from '../../src/secrets/random-pool.ts';
import { openOrCreateSecretFile } from '../../src/secrets/secret-file.ts';
import { DemoCatalog } from './demo-catalog.ts';
import { createConfirmationFile } from './demo-confirmations.ts';
import { type DemoExperiment, demoExperiments } from './demo-experiments.ts';
import { type DemoKey, writeDemoFile } from './demo-file.ts';
import { chooseLimits, DemoBookings, type DemoLimit } from './demo-limits.ts';
import { listDemoOffers } from './demo-offers.ts';
import { DemoRecords } from './demo-records.ts';
import { VerticalHistory, type VerticalHistoryOptions } from './vertical-history.ts';

/** Number of complete UTC days of the history. */
export const historyDays = 90;
const account = 'demo';
/** Number of records that are appended before each wait, below the limit of the log. */
const appendBatchSize = 5_000;
/** Share of the work that writing the ledger takes; the analytics store takes the rest. */
const writingShare = 0.5;
/** Days by which the planned end of an experiment follows the history. */
const daysToEnd = 10;
/** Days of the simulation by which the offers with limits are chosen. */
const trialDays = 7;

export interface DemoHistory {
  readonly firstDay: number;
  readonly sessions: number;
  /** For each vertical a live key, which created its sessions. For the first vertical also a read-only key and a test key. */
  readonly keys: readonly DemoKey[];
}

interface DemoHistoryOptions {
  /** Folder to create. */
  readonly dataDir: string;
  readonly verticals: readonly Vertical[];
  /** End of the history. Its UTC day has as many sessions as a complete day. */
  readonly endMs: number;
  /** Called with the share of the work that was just finished. */
  readonly onProgress: (share: number) => void;
  readonly signal: AbortSignal;
}

/**
 * Creates a data folder that contains 90 days of sessions, clicks, payouts and experiments in each vertical, the day on which they end, and
 * the analytics store. The folder has a test clock, so no server takes it for a real one. Rejects if the folder exists. Deletes the folder
 * after a failure.
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
  const { dataDir, verticals, endMs } = options;
  const today = daysSinceEpoch(endMs);
  const firstDay = today - historyDays;
  createPrivateFolder(dataDir);
  const secrets = openOrCreateSecretFile(join(dataDir, 'secrets.json'), false);
  // Marks the folder, because the first service of a folder with files can have no test clock otherwise.
  writeTestClockDays(dataDir, 0);
  const ids = { subIds: new SubIds(secrets, new RandomBytesPool()), unitHasher: new UnitHasher(secrets.unitKey!) };
  const catalogs = verticals.map(
    (vertical) => new DemoCatalog(dataDir, vertical, firstDay, chooseUsualLimits({ vertical, firstDay, ...ids })),
  );
  for (const catalog of catalogs) catalog.write('earlier');
  const { owners, keys } = await useMarketplace(dataDir, catalogs, dayStartMs(firstDay), (marketplace) =>
    createKeysAndExperiments(marketplace, verticals, firstDay, today - 1 + daysToEnd),
  );
  for (const catalog of catalogs) catalog.write('current');
  // A start activates the current catalogs.
  await useMarketplace(dataDir, catalogs, dayStartMs(today), async () => {});

  const records = new DemoRecords(firstDay, endMs);
  const histories = verticals.map((vertical, at) => {
    const catalogVersionOn = (day: number) => catalogs[at]!.versionOf(day < today ? 'earlier' : 'current');
    return new VerticalHistory({
      vertical,
      ...owners[at]!,
      records,
      endMs,
      catalogVersionOn,
      limits: catalogs[at]!.limits,
      ...ids,
    });
  });
  const sessions = await writeStores(
    options,
    records,
    histories,
    new DemoBookings(catalogs.map(({ limits }) => limits)),
  );
  await useMarketplace(dataDir, catalogs, endMs, async ({ confirmations, partnerApi }) => {
    await submitUnreported(confirmations, histories, endMs);
    // The keys that created the sessions were last used today.
    for (const { key } of keys.slice(0, verticals.length)) await partnerApi(key).listTags();
  });
  writeDemoFile(dataDir, { endMs, keys });
  return { firstDay, sessions, keys };
}

interface TrialOptions extends Pick<VerticalHistoryOptions, 'vertical' | 'subIds' | 'unitHasher'> {
  readonly firstDay: number;
}

/** Simulates a week without limits, and chooses limits that offers reach on usual days. */
function chooseUsualLimits({ firstDay, ...options }: TrialOptions): ReadonlyMap<string, DemoLimit> {
  const endMs = dayStartMs(firstDay + trialDays);
  const records = new DemoRecords(firstDay, endMs);
  const history = new VerticalHistory({
    account: 1,
    keyNumber: 1,
    records,
    endMs,
    catalogVersionOn: () => '',
    limits: new Map(),
    ...options,
  });
  const days = Array.from({ length: trialDays }, (_, at) => firstDay + at);
  for (const day of days) history.addDay(day);
  const clicks = days
    .flatMap((day) => records.takeDay(day))
    .filter((record) => record[0] === ledgerRecordKind.offerClicked);
  return chooseLimits(listDemoOffers(options.vertical).flat(), clicks, trialDays);
}

/** Starts a marketplace on the folder, with a clock that stands still, and closes it after `use`. */
async function useMarketplace<Result>(
  dataDir: string,
  catalogs: readonly DemoCatalog[],
  nowMs: number,
  use: (marketplace: Marketplace) => Promise<Result>,
): Promise<Result> {
  const clock = { wallMs: () => nowMs, monotonicMs: () => systemClock.monotonicMs() };
  const marketplace = await createMarketplace({
    dataDir,
    testClock: true,
    clock,
    matcherThreads: 0,
    urls: { click: 'https://go.example' },
    catalogs: catalogs.flatMap(({ sources }) => sources),
  });
  try {
    return await use(marketplace);
  } finally {
    await marketplace.close();
  }
}

/**
 * Creates the keys of the demo, and the experiments in each vertical. Returns for each vertical the numbers of the account and of the key
 * that own its sessions.
 */
async function createKeysAndExperiments(
  { keys, partnerApi }: Marketplace,
  verticals: readonly Vertical[],
  startsOn: number,
  endsOn: number,
) {
  const createKey = (vertical: Vertical, kind: Pick<DemoKey, 'mode' | 'scope'>): DemoKey => {
    const wanted = { vertical: vertical.segment, ...kind };
    return { ...wanted, ...keys.create({ account, ...wanted }) };
  };
  const liveKeys = verticals.map((vertical) => createKey(vertical, { mode: 'live', scope: 'full' }));
  for (const { key, vertical } of liveKeys) {
    for (const experiment of demoExperiments) {
      const defined = await partnerApi(key, vertical).defineExperiment(toDefinition(experiment, startsOn, endsOn));
      if (!defined.ok) throw new Error(`experiment ${experiment.name}: ${defined.error.message}`);
    }
  }
  const owners = liveKeys.map((own) => {
    const issued = keys.list().find(({ id }) => id === own.id)!;
    return { account: issued.account, keyNumber: issued.number };
  });
  const [first] = verticals;
  const otherKeys = [
    createKey(first!, { mode: 'live', scope: 'analytics' }),
    createKey(first!, { mode: 'test', scope: 'full' }),
  ];
  return { owners, keys: [...liveKeys, ...otherKeys] };
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

/** Simulates the days, and writes the ledger and the analytics store. Returns the number of sessions. */
async function writeStores(
  { dataDir, onProgress, signal }: DemoHistoryOptions,
  records: DemoRecords,
  histories: readonly VerticalHistory[],
  bookings: DemoBookings,
): Promise<number> {
  const lock = lockFolder(dataDir);
  try {
    let sessions = 0;
    const log = await openEventLog<LedgerRecord>({ folder: dataPaths(dataDir).ledgerFolder, durability: 'fsync' });
    try {
      for (let day = records.firstDay; day <= records.lastDay; day++) {
        for (const history of histories) sessions += history.addDay(day);
        await appendRecords(
          log,
          records.takeDay(day).map((record) => bookings.decide(record)),
        );
        onProgress(writingShare / (historyDays + 1));
        signal.throwIfAborted();
      }
    } finally {
      await log.close();
    }
    await buildAnalyticsStore(dataDir, log.lastAppendedPosition, onProgress, signal);
    return sessions;
  } finally {
    lock.release();
  }
}

/** Submits the file of a lender for each vertical at the end of the history. */
async function submitUnreported(
  confirmations: Marketplace['confirmations'],
  histories: readonly VerticalHistory[],
  endMs: number,
): Promise<void> {
  for (const { unreported } of histories) {
    const submitted = await confirmations.submit(createConfirmationFile(unreported, endMs));
    if (!submitted.ok) throw new Error(`confirmations: ${submitted.error.message}`);
  }
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
