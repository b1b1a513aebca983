import type { Logger } from 'pino';
import { RetentionTask } from '../analytics/retention-task.ts';
import { ThreadAnalytics } from '../analytics/thread-analytics.ts';
import { serviceActor } from '../audit/audit-log.ts';
import type { Authenticator } from '../auth/authenticator.ts';
import { keyFilePath } from '../auth/key-file.ts';
import type { SqliteKeyDirectory } from '../auth/sqlite-key-directory.ts';
import { bounds } from '../bounds.ts';
import { BookedRevenueSnapshotWriter } from '../budgets/booked-revenue-snapshot.ts';
import type { CatalogStore } from '../catalogs/catalog-store.ts';
import type { ClickRecordLimiter } from '../clicks/click-record-limiter.ts';
import { formatIsoDate } from '../domain/calendar.ts';
import type { TestClock } from '../domain/test-clock.ts';
import type { EventLogProblem } from '../event-log/file-event-log.ts';
import { nodeFileSystem } from '../event-log/log-files.ts';
import { deleteSegmentsBefore } from '../event-log/segment-files.ts';
import type { KeyFileNumbers } from '../files/data-inventory.ts';
import { dataPaths } from '../files/data-paths.ts';
import { UnitHasher } from '../ids/unit-hasher.ts';
import { FileJournal, type JournalProblem } from '../journal/file-journal.ts';
import { type Ledger, openLedger } from '../ledger/ledger.ts';
import { describeError } from '../logging/describe-error.ts';
import type { EventLogName } from '../metrics/gauges.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { SecretSet } from '../secrets/secret-set.ts';
import { HashAssignments } from '../sessions/hash-assignments.ts';
import { IdempotencyKeys } from '../sessions/idempotency-keys.ts';
import { ReferrerTags } from '../sessions/referrer-tags.ts';
import { SessionRecovery } from '../sessions/session-recovery.ts';
import { SessionStore } from '../sessions/session-store.ts';
import {
  assertJournalComplete,
  assertJournalExists,
  assertKeyFileIsCurrent,
  assertLedgerEnd,
  assertLedgerOfJournal,
  type FolderEvidence,
  findKnownNumbersPosition,
  LedgerWitness,
  readOrAddUnitKey,
} from './check-data-folder.ts';
import { InventoryWriter } from './inventory-writer.ts';
import type { CleanupStack } from './lifecycle.ts';
import type { OpenedAudit } from './open-audit-trail.ts';
import { createLedgerBookings, rebuildLedgerBookings } from './open-ledger-bookings.ts';
import { restoreFromAnalytics } from './restore-from-analytics.ts';
import { type ServiceOptions, servedVerticals } from './service.ts';

/** Logs an incident at the log level of its kind. */
function logIncident(logger: Logger, name: EventLogName, incident: EventLogProblem | JournalProblem): void {
  if ('error' in incident) {
    logger.error({ log: name, kind: incident.kind, err: describeError(incident.error) }, `${name} incident`);
  } else if (incident.kind === 'recovered' || incident.kind === 'maintenance-recovered') {
    logger.info({ log: name, kind: incident.kind }, `${name} incident`);
  } else logger.warn({ log: name, ...incident }, `${name} incident`);
}

interface StorageDeps {
  readonly cleanup: CleanupStack;
  readonly evidence: FolderEvidence;
  readonly testClock: TestClock | null;
  readonly audit: OpenedAudit;
  readonly secrets: SecretSet;
  readonly authenticator: Authenticator;
  readonly keyDirectory: Pick<SqliteKeyDirectory, 'setChangeListener'>;
  readonly readKeyNumbers: () => KeyFileNumbers;
  readonly catalogs: CatalogStore;
  readonly clickLimiter: ClickRecordLimiter;
  readonly metrics: Metrics;
}

/** Opens the ledger, restores sessions and the booked revenue of offers from it, and opens the journal and the analytics. */
export async function openStorage(options: ServiceOptions, deps: StorageDeps) {
  const { cleanup, evidence, testClock, secrets, keyDirectory, readKeyNumbers, audit } = deps;
  const { dataDir, clock, logger } = options;
  const { sessionTtlMs, maxSessions: sessionsMax, maxReferrerTags: tagsMax } = options;
  const verticals = servedVerticals(options);
  const sessions = new SessionStore({
    clock,
    sessionsMax,
    sessionTtlMs,
    fieldsMax: Math.max(...verticals.map(({ fields }) => fields.length)),
  });
  cleanup.addCleanupCallback(() => sessions.close());
  const idempotencyKeys = new IdempotencyKeys({
    clock,
    secrets,
    retentionMs: sessionTtlMs,
    keysMax: bounds.idempotencyKeysMax,
  });
  const sessionRecovery = new SessionRecovery({
    clock,
    sessions,
    sessionTtlMs,
    verticals,
    onIdempotentSession: (keyed, sub) => idempotencyKeys.restoreKey(keyed, sub),
  });
  // The cleanup callbacks run in reverse order. The last inventory is written after ledger, journal and analytics are closed.
  let inventoryWriter: InventoryWriter | null = null;
  cleanup.addCleanupCallback(() => inventoryWriter?.close());
  const hashAssignments = new HashAssignments();
  const opened = await openRecoveredLedger(options, deps, sessionRecovery, hashAssignments);
  const { ledger, bookings, unitHasher } = opened;

  const journal = await openJournal(options, deps, ledger, sessions, sessionRecovery);
  const onError = (error: unknown) =>
    logger.warn({ err: describeError(error) }, 'inventory of the data folder could not be saved');
  const writer = new InventoryWriter({
    dataDir,
    evidence,
    testClock,
    ledger,
    journal,
    readKeyNumbers,
    onError,
    readAuditEnd: audit.readEnd,
  });
  inventoryWriter = writer;
  keyDirectory.setChangeListener(() => writer.requestWrite());

  const analytics = await startAnalytics(options, deps, ledger);
  const referrerTags = new ReferrerTags(tagsMax);
  await restoreFromAnalytics({ analytics, clock, ledger, referrerTags, hashAssignments, cleanup });
  const retention = startRetention(options, cleanup, analytics, writer);
  return {
    sessions,
    idempotencyKeys,
    unitHasher,
    hashAssignments,
    referrerTags,
    ledger,
    journal,
    analytics,
    bookings,
    retention,
    inventoryWriter: writer,
  };
}

/** Opens the journal, and restores the pocket fields of the live sessions. */
async function openJournal(
  options: ServiceOptions,
  { cleanup, evidence, secrets, metrics }: StorageDeps,
  ledger: Parameters<typeof assertLedgerOfJournal>[1],
  sessions: SessionStore,
  sessionRecovery: SessionRecovery,
) {
  const { clock, logger, onRestoreProgress, sessionTtlMs, durability } = options;
  assertJournalExists(evidence, sessions.size);
  const journal = await FileJournal.open({
    folder: evidence.files.journalFolder,
    durability,
    clock,
    secrets,
    verticals: servedVerticals(options),
    sessionTtlMs,
    onLogsRead: (logs) => {
      assertLedgerOfJournal(evidence, ledger, logs);
      const oldestLiveMs = sessions.size === 0 ? Number.POSITIVE_INFINITY : clock.wallMs() - sessionTtlMs;
      assertJournalComplete(evidence, logs, { oldestLiveMs, durability });
    },
    onFieldChanges: (sub, changes) => sessionRecovery.applyFieldChanges(sub, changes),
    onProgress: onRestoreProgress && ((bytes, ofBytes) => onRestoreProgress('journal', bytes, ofBytes)),
    ...logObservers('journal', logger, metrics),
  });
  cleanup.addCleanupCallback(() => journal.close());
  return journal;
}

/** Opens the ledger, and replays its records to the sessions, the limits of clicks, and the bookings of offers. */
async function openRecoveredLedger(
  options: ServiceOptions,
  { cleanup, evidence, secrets, authenticator, catalogs, clickLimiter, metrics, audit }: StorageDeps,
  sessionRecovery: SessionRecovery,
  hashAssignments: HashAssignments,
) {
  const { clock, logger, onRestoreProgress } = options;
  // Only the ledger can prove that a secret file without a unit key has lost it, if there is no inventory.
  const knowsUnits = secrets.unitKey !== null || evidence.inventory.ledger !== undefined;
  const witness = new LedgerWitness(knowsUnits ? findKnownNumbersPosition(evidence) : 0);
  const bookings = createLedgerBookings(options, catalogs);
  const ledger = await openLedger({
    folder: evidence.files.ledgerFolder,
    durability: options.durability,
    recoveries: [sessionRecovery, clickLimiter, witness],
    subscribers: [bookings, hashAssignments],
    onProgress: onRestoreProgress && ((bytes, ofBytes) => onRestoreProgress('ledger', bytes, ofBytes)),
    ...logObservers('ledger', logger, metrics),
  });
  let snapshotWriter: BookedRevenueSnapshotWriter | null = null;
  // The last snapshot is written after the ledger is closed, so that it contains all records.
  cleanup.addCleanupCallback(() => snapshotWriter?.close());
  cleanup.addCleanupCallback(() => ledger.close());
  witness.assertSecretsMatch(secrets, options.secretFile);
  const recordUnitKey = () => audit.trail.recorderOf(serviceActor)('unit_key.create', 'unit key');
  const unitHasher = new UnitHasher(readOrAddUnitKey(secrets, options.secretFile, evidence, witness, recordUnitKey));
  assertLedgerEnd(evidence, ledger, options.durability);
  assertKeyFileIsCurrent(keyFilePath(options.dataDir), {
    account: witness.highestAccount,
    key: witness.highestKey,
    change: 0,
  });
  if (!bookings.isConsistentWithLedger) await rebuildLedgerBookings(options, catalogs, bookings, ledger);
  bookings.resetRevenueTotals();
  const onError = (error: unknown) =>
    logger.warn({ err: describeError(error) }, 'booked revenue of offers could not be saved');
  const file = evidence.files.bookedRevenueFile;
  snapshotWriter = new BookedRevenueSnapshotWriter({ file, clock, ledger, bookings, onError });
  // Restores today last, because the counters delete the day that was not counted for the longest time.
  for (const [day, counts] of [...sessionRecovery.sessionCountsByDay].sort(([one], [other]) => other - one)) {
    for (const [keyNumber, count] of counts) authenticator.restoreSessionCount(keyNumber, day, count);
  }
  return { ledger, bookings, unitHasher };
}

async function startAnalytics(
  { logger }: ServiceOptions,
  { cleanup, evidence, metrics }: StorageDeps,
  ledger: Ledger,
): Promise<ThreadAnalytics> {
  const analytics = await ThreadAnalytics.start({
    files: evidence.files,
    log: ledger,
    onCrash: (error) => {
      metrics.countAggregatorRestart();
      logger.error({ err: describeError(error) }, 'aggregator exited; restarting');
    },
    onRecovered: () => logger.info('aggregator restarted'),
    onRebuild: (reason) => {
      metrics.countAnalyticsRebuild();
      logger.warn({ reason }, 'rebuilding the analytics store from the ledger');
    },
    onRebuilt: () => logger.info('analytics store rebuilt'),
  });
  cleanup.addCleanupCallback(() => analytics.close());
  ledger.setDurabilityListener((position) => analytics.onLedgerDurable(position));
  return analytics;
}

/** Starts the deletion of data that is older than the retention period. Returns null if all data is kept. */
function startRetention(
  { retentionDays, dataDir, clock, logger }: ServiceOptions,
  cleanup: CleanupStack,
  analytics: ThreadAnalytics,
  inventoryWriter: InventoryWriter,
): RetentionTask | null {
  if (retentionDays === null) return null;
  const { ledgerFolder } = dataPaths(dataDir);
  const retention = new RetentionTask({
    retentionDays,
    clock,
    analytics: {
      async applyRetention(request) {
        const outcome = await analytics.applyRetention(request);
        if (outcome.archived) inventoryWriter.setArchiveEnd(outcome.archiveEnd);
        return outcome;
      },
    },
    deleteLedgerBefore: (beforePosition) => deleteSegmentsBefore(nodeFileSystem, ledgerFolder, beforePosition),
    onDeleted: ({ retainedFromDay, segments }) =>
      logger.info(
        { retainedFrom: formatIsoDate(retainedFromDay), segments },
        'data older than the retention period deleted',
      ),
    onError: (error: unknown) =>
      logger.warn(
        { err: describeError(error) },
        'data older than the retention period could not be deleted; retrying later',
      ),
    onRecovered: () => logger.info('deletion of data older than the retention period succeeded again'),
  });
  cleanup.addCleanupCallback(() => retention.close());
  return retention;
}

/** Creates the callbacks of an event log for metrics (`onGroupStored`) and for incidents, which are counted and logged (`onIncident`). */
function logObservers(name: EventLogName, logger: Logger, metrics: Metrics) {
  return {
    onGroupStored: metrics.createEventLogWriteObserver(name),
    onIncident: (incident: EventLogProblem | JournalProblem) => {
      metrics.countEventLogIncident(name, incident.kind);
      logIncident(logger, name, incident);
    },
  };
}
