import { join } from 'node:path';
import type { Logger } from 'pino';
import { RetentionTask } from '../analytics/retention-task.ts';
import { startThreadAnalytics } from '../analytics/thread-analytics.ts';
import type { Authenticator } from '../auth/authenticator.ts';
import { bounds } from '../bounds.ts';
import type { ClickRecordLimiter } from '../clicks/click-record-limiter.ts';
import type { DailyCaps } from '../clicks/daily-caps.ts';
import { isoDate } from '../domain/calendar.ts';
import type { LogIncident } from '../event-log/file-event-log.ts';
import { nodeLogFiles } from '../event-log/log-files.ts';
import { dropSegments } from '../event-log/segment-files.ts';
import { dataFiles } from '../files/data-files.ts';
import { FileJournal, type JournalIncident } from '../journal/file-journal.ts';
import { openLedger } from '../ledger/ledger.ts';
import { describeError } from '../logging/describe-error.ts';
import type { LogName } from '../metrics/gauges.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { SecretRing } from '../secrets/secret-ring.ts';
import { IdempotencyKeys } from '../sessions/idempotency-keys.ts';
import { MemorySessionStore } from '../sessions/memory-session-store.ts';
import { ReferrerTags } from '../sessions/referrer-tags.ts';
import { SessionRecovery } from '../sessions/session-recovery.ts';
import type { CleanupStack } from './lifecycle.ts';
import { assertJournalFolder } from './open-data-folder.ts';
import { restoreReferrerTags } from './restore-referrer-tags.ts';
import { type ServiceOptions, servedVerticals } from './service.ts';

/** Logs an incident at the log level of its kind. */
function logIncident(logger: Logger, name: LogName, incident: LogIncident | JournalIncident): void {
  if ('error' in incident) {
    logger.error({ log: name, kind: incident.kind, err: describeError(incident.error) }, `${name} incident`);
  } else if (incident.kind === 'recovered' || incident.kind === 'maintenance-recovered') {
    logger.info({ log: name, kind: incident.kind }, `${name} incident`);
  } else logger.warn({ log: name, ...incident }, `${name} incident`);
}

/** Opens the ledger, restores sessions and daily caps from it, and opens the journal and the analytics. */
export async function openStorage(
  options: ServiceOptions,
  closers: CleanupStack,
  secrets: SecretRing,
  gatekeeper: Authenticator,
  caps: DailyCaps,
  budget: ClickRecordLimiter,
  metrics: Metrics,
) {
  const { dataDir, clock, logger, onRestoreProgress } = options;
  const { ttlMs: sessionTtlMs, max: sessionsMax, tagsMax } = options.sessions;
  const files = dataFiles(dataDir);
  const sessions = new MemorySessionStore({
    clock,
    sessionsMax,
    sessionTtlMs,
    fieldsMax: Math.max(...servedVerticals(options).map(({ fields }) => fields.length)),
    shardCount: bounds.sessionStoreShards,
    sweepIntervalMs: bounds.sessionSweepIntervalMs,
  });
  closers.defer(() => sessions.close());

  const idempotencyKeys = new IdempotencyKeys({
    clock,
    secrets,
    retentionMs: sessionTtlMs,
    keysMax: bounds.idempotencyKeysMax,
  });
  const restore = new SessionRecovery({
    clock,
    sessions,
    sessionTtlMs,
    verticals: servedVerticals(options),
    onIdempotentSession: (keyed, sub) => idempotencyKeys.restore(keyed, sub),
  });
  const ledger = await openLedger({
    folder: files.ledgerFolder,
    durability: options.durability,
    recoveries: [restore, budget],
    subscribers: [caps],
    onProgress: onRestoreProgress && ((bytes, ofBytes) => onRestoreProgress('ledger', bytes, ofBytes)),
    ...logObservers('ledger', logger, metrics),
  });
  closers.defer(() => ledger.close());
  for (const [keyNumber, count] of restore.sessionCountsToday) {
    gatekeeper.restoreSessionCount(keyNumber, restore.today, count);
  }

  const journalFolder = join(dataDir, 'journal');
  assertJournalFolder(journalFolder, sessions.size);
  const journal = await FileJournal.open({
    folder: journalFolder,
    durability: options.durability,
    clock,
    secrets,
    verticals: servedVerticals(options),
    sessionTtlMs,
    onFieldChanges: (sub, changes) => restore.applyFieldChanges(sub, changes),
    onProgress: onRestoreProgress && ((bytes, ofBytes) => onRestoreProgress('journal', bytes, ofBytes)),
    ...logObservers('journal', logger, metrics),
  });
  closers.defer(() => journal.close());

  const analytics = await startThreadAnalytics({
    files,
    log: ledger,
    onCrash: (fault) => {
      metrics.countAggregatorRestart();
      logger.error({ err: describeError(fault) }, 'aggregator exited; restarting');
    },
    onRecovered: () => logger.info('aggregator restarted'),
    onRebuild: (reason) => {
      metrics.countAnalyticsRebuild();
      logger.warn({ reason }, 'rebuilding the analytics store from the ledger');
    },
    onRebuilt: () => logger.info('analytics store rebuilt'),
  });
  closers.defer(() => analytics.close());
  ledger.onDurable((position) => analytics.onLedgerDurable(position));
  const referrerTags = new ReferrerTags(tagsMax);
  await restoreReferrerTags(analytics, ledger.appendedPosition, referrerTags, closers);

  if (options.retentionDays !== null) {
    const retention = new RetentionTask({
      retentionDays: options.retentionDays,
      clock,
      analytics,
      deleteLedgerBefore: (beforePosition) => dropSegments(nodeLogFiles, files.ledgerFolder, beforePosition),
      onDeleted: ({ retainedFromDay, segments }) =>
        logger.info({ retainedFrom: isoDate(retainedFromDay), segments }, 'data older than the retention deleted'),
      onError: (fault) =>
        logger.warn(
          { err: describeError(fault) },
          'data older than the retention could not be deleted; retrying later',
        ),
      onRecovered: () => logger.info('deletion of data older than the retention works again'),
    });
    closers.defer(() => retention.close());
  }
  return { sessions, idempotencyKeys, referrerTags, ledger, journal, analytics };
}

/** Creates the callbacks that report written groups and incidents of a log as metrics and log lines. */
function logObservers(name: LogName, logger: ServiceOptions['logger'], metrics: Metrics) {
  return {
    onGroupStored: metrics.logGroupObserver(name),
    onIncident: (trouble: LogIncident | JournalIncident) => {
      metrics.countLogIncident(name, trouble.kind);
      logIncident(logger, name, trouble);
    },
  };
}
