import type { Logger } from 'pino';
import { RetentionTask } from '../analytics/retention-task.ts';
import { ThreadAnalytics } from '../analytics/thread-analytics.ts';
import { serviceActor } from '../audit/audit-log.ts';
import type { Authenticator } from '../auth/authenticator.ts';
import { keyFilePath, registerShard } from '../auth/key-file.ts';
import type { SqliteKeyDirectory } from '../auth/sqlite-key-directory.ts';
import { bounds } from '../bounds.ts';
import { LedgerBookings } from '../budgets/ledger-bookings.ts';
import type { CatalogStore } from '../catalogs/catalog-store.ts';
import type { ClickRecordLimiter } from '../clicks/click-record-limiter.ts';
import { formatIsoDate } from '../domain/calendar.ts';
import type { TestClock } from '../domain/test-clock.ts';
import type { EventLogProblem, FileEventLog } from '../event-log/file-event-log.ts';
import { nodeFileSystem } from '../event-log/log-files.ts';
import { deleteSegmentsBefore } from '../event-log/segment-files.ts';
import type { KeyFileNumbers } from '../files/data-inventory.ts';
import { dataPaths } from '../files/data-paths.ts';
import { UnitHasher } from '../ids/unit-hasher.ts';
import { FileJournal, type JournalProblem } from '../journal/file-journal.ts';
import { sessionPieceFolder } from '../journal/session-pieces.ts';
import { type Ledger, openLedger } from '../ledger/ledger.ts';
import type { LedgerRecord } from '../ledger/ledger-record.ts';
import { describeError } from '../logging/describe-error.ts';
import type { EventLogName } from '../metrics/gauges.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { SecretSet } from '../secrets/secret-set.ts';
import { HashAssignments } from '../sessions/hash-assignments.ts';
import { IdempotencyKeys } from '../sessions/idempotency-keys.ts';
import { ReferrerTags } from '../sessions/referrer-tags.ts';
import { SessionCounts } from '../sessions/session-counts.ts';
import { SessionRecovery } from '../sessions/session-recovery.ts';
import { SessionStore } from '../sessions/session-store.ts';
import type { PlacedPart } from '../snapshots/snapshot-files.ts';
import { SnapshotWriter } from '../snapshots/snapshot-writer.ts';
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
import { LiveSessionsPart } from './live-sessions-part.ts';
import type { OpenedAudit } from './open-audit-trail.ts';
import { activateLimits, prepareBookings } from './open-ledger-bookings.ts';
import { restoreSnapshot } from './open-snapshot.ts';
import { restoreFromAnalytics } from './restore-from-analytics.ts';
import { type ServiceOptions, servedVerticals, sharedDir } from './service.ts';

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

/** Restores the state of the service from the last snapshot, the ledger and the journal, and opens them and the analytics. */
export async function openStorage(options: ServiceOptions, deps: StorageDeps) {
  const { cleanup, evidence, testClock, secrets, keyDirectory, readKeyNumbers, audit } = deps;
  const { dataDir, clock, logger } = options;
  const { sessionTtlMs, maxSessions: sessionsMax, maxReferrerTags: tagsMax } = options;
  const verticals = servedVerticals(options);
  const sessions = new SessionStore({ clock, sessionsMax, sessionTtlMs, verticals });
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
  // The last snapshot is written after ledger and journal are closed, so that it contains all records.
  let snapshotWriter: SnapshotWriter | null = null;
  cleanup.addCleanupCallback(() => snapshotWriter?.close());
  const hashAssignments = new HashAssignments();
  const liveSessions = new LiveSessionsPart({ clock, secrets, verticals, sessionTtlMs, sessions });
  const state = { sessionRecovery, hashAssignments, liveSessions, idempotencyKeys };
  const { ledger, bookings, unitHasher, parts } = await openRecoveredLedger(options, deps, state);

  const journal = await openJournal(options, deps, { ledger, sessions, sessionRecovery, liveSessions });
  const snapshots = startSnapshots(options, evidence, ledger, parts);
  snapshotWriter = snapshots;
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
    saveSnapshot: () => snapshots.save(),
  };
}

function startSnapshots(
  { clock, logger }: ServiceOptions,
  { files }: FolderEvidence,
  ledger: FileEventLog<LedgerRecord>,
  parts: readonly PlacedPart[],
): SnapshotWriter {
  const onError = (error: unknown) => logger.warn({ err: describeError(error) }, 'snapshot could not be saved');
  return new SnapshotWriter({ folder: files.snapshotFolder, parts, clock, ledger, onError });
}

/** Opens the journal, and restores the pocket fields of the live sessions. */
async function openJournal(
  options: ServiceOptions,
  { cleanup, evidence, secrets, metrics }: StorageDeps,
  {
    ledger,
    sessions,
    sessionRecovery,
    liveSessions,
  }: {
    readonly ledger: Parameters<typeof assertLedgerOfJournal>[1];
    readonly sessions: SessionStore;
    readonly sessionRecovery: SessionRecovery;
    readonly liveSessions: LiveSessionsPart;
  },
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
    restoredLogs: liveSessions.restoredLogs,
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
  liveSessions.listJournalLogs = () => journal.listLogs();
  return journal;
}

interface RecoveredState {
  readonly sessionRecovery: SessionRecovery;
  readonly hashAssignments: HashAssignments;
  readonly liveSessions: LiveSessionsPart;
  readonly idempotencyKeys: IdempotencyKeys;
}

/**
 * Restores the last snapshot, opens the ledger, and applies its later records to the sessions, the limits of clicks, and the bookings of
 * offers. Returns also the parts of the next snapshot.
 */
async function openRecoveredLedger(
  options: ServiceOptions,
  { cleanup, evidence, secrets, authenticator, catalogs, clickLimiter, metrics, audit }: StorageDeps,
  { sessionRecovery, hashAssignments, liveSessions, idempotencyKeys }: RecoveredState,
) {
  const { clock, logger, onRestoreProgress } = options;
  const { files } = evidence;
  // Only the ledger can prove that a secret file without a unit key has lost it, if there is no inventory.
  const knowsUnits = secrets.unitKey !== null || evidence.inventory.ledger !== undefined;
  const witness = new LedgerWitness(knowsUnits ? findKnownNumbersPosition(evidence) : 0);
  const bookings = new LedgerBookings(clock.wallMs());
  const sessionCounts = new SessionCounts(clock);
  const { snapshotFolder } = files;
  const parts: PlacedPart[] = [
    { part: liveSessions, folder: sessionPieceFolder(files.journalFolder) },
    ...[idempotencyKeys, bookings, sessionCounts, clickLimiter, witness].map((part) => ({
      part,
      folder: snapshotFolder,
    })),
  ];
  const { cursor, restoredParts } = restoreSnapshot(options, files, parts);
  sessionRecovery.isRestored = restoredParts.has(liveSessions) && restoredParts.has(idempotencyKeys);
  if (!restoredParts.has(clickLimiter)) {
    clickLimiter.replayStartTimeMs = clock.wallMs() - bounds.clickAttributionMs - bounds.clockSetBackMsMax;
  }
  prepareBookings(options, catalogs, bookings);
  const ledger = await openLedger({
    folder: files.ledgerFolder,
    durability: options.durability,
    cursor,
    recoveries: [sessionRecovery, clickLimiter],
    subscribers: [bookings, hashAssignments, sessionCounts, witness],
    onProgress: onRestoreProgress && ((bytes, ofBytes) => onRestoreProgress('ledger', bytes, ofBytes)),
    ...logObservers('ledger', logger, metrics),
  });
  cleanup.addCleanupCallback(() => ledger.close());
  witness.assertSecretsMatch(secrets, options.secretFile);
  const recordUnitKey = () => audit.trail.recorderOf(serviceActor)('unit_key.create', 'unit key');
  const unitHasher = new UnitHasher(readOrAddUnitKey(secrets, options.secretFile, evidence, witness, recordUnitKey));
  assertLedgerEnd(evidence, ledger, options.durability);
  assertKeyFileIsCurrent(keyFilePath(sharedDir(options)), {
    accounts: witness.accounts.list(),
    key: witness.highestKey,
    change: 0,
  });
  if (options.shard !== null) registerShard(keyFilePath(options.shard.rootDir), options.shard.number);
  await activateLimits(options, catalogs, bookings, ledger);
  bookings.resetRevenueTotals();
  for (const { keyNumber, day, count } of sessionCounts.listCounts()) {
    authenticator.restoreSessionCount(keyNumber, day, count);
  }
  return { ledger, bookings, unitHasher, parts };
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
    onOutdated: () =>
      logger.warn(
        'analytics are outdated, and their archive lacks days; restore the folder sealed from a backup, or set SVC_RETENTION_DAYS',
      ),
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
