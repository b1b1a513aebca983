import { join } from 'node:path';
import type { Authenticator } from '../access/gatekeeper.ts';
import { dataFiles } from '../analytics/analytics-files.ts';
import { RetentionTask } from '../analytics/retention.ts';
import { startThreadAnalytics } from '../analytics/thread-analytics.ts';
import { bounds } from '../bounds.ts';
import type { ClickRecordLimiter } from '../clicks/click-budget.ts';
import type { DailyCaps } from '../clicks/daily-caps.ts';
import type { CleanupStack } from '../closers.ts';
import { isoDate } from '../domain/calendar.ts';
import { dropSegments } from '../events/drop-segments.ts';
import { type LogIncident, openEventLog } from '../events/file-event-log.ts';
import { recordTimeMs } from '../events/ledger-record.ts';
import { nodeLogFiles } from '../events/node-log-files.ts';
import { FileJournal, type JournalIncident } from '../journal/file-journal.ts';
import { describeError } from '../logs/describe-fault.ts';
import type { LogName } from '../metrics/log-names.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { SecretRing } from '../secrets/secret-ring.ts';
import { IdempotencyKeys } from '../sessions/idempotency-keys.ts';
import { MemorySessionStore } from '../sessions/memory-session-store.ts';
import { ReferrerTags } from '../sessions/referrer-tags.ts';
import { SessionRecovery } from '../sessions/restore-from-ledger.ts';
import { logIncident } from './log-trouble.ts';
import { assertJournalFolder } from './missing-folder.ts';
import { restoreReferrerTags } from './restore-referrer-tags.ts';
import type { ServiceOptions } from './service.ts';
import { shard } from './shard.ts';
import { servedVerticals } from './verticals-of.ts';
import { visitValidRecord } from './visit-sound-record.ts';

/** What happened, what is still live of it, and what it adds up to. */
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
    onClick: (sub) => budget.restoreClick(sub),
  });
  const ledger = await openEventLog({
    folder: files.ledgerFolder,
    shard,
    durability: options.durability,
    onRecord: (_position, record) => {
      restore.applyRecord(record);
      if (!caps.isIdle) visitValidRecord(record, (sound) => caps.apply(sound));
    },
    readSince: {
      wallMs: caps.isIdle ? restore.replaySinceMs : Math.min(restore.replaySinceMs, caps.replaySinceMs),
      timeMsOf: recordTimeMs,
    },
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
    shard,
    durability: options.durability,
    clock,
    secrets,
    verticals: servedVerticals(options),
    sessionTtlMs,
    onFieldChanges: (sub, changes) => restore.applyMerge(sub, changes),
    onProgress: onRestoreProgress && ((bytes, ofBytes) => onRestoreProgress('journal', bytes, ofBytes)),
    ...logObservers('journal', logger, metrics),
  });
  closers.defer(() => journal.close());

  const analytics = await startThreadAnalytics({
    files,
    log: ledger,
    onCrash: (fault) => {
      metrics.countAggregatorRestart();
      logger.error({ fault: describeError(fault) }, 'aggregator died; it is being started again');
    },
    onRecovered: () => logger.info('aggregator is running again'),
    onRebuild: (reason) => {
      metrics.countAnalyticsRebuild();
      logger.warn({ reason }, 'analytics store is being rebuilt from the ledger');
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
      onDeleted: ({ keptFromDay, segments }) =>
        logger.info({ keptFrom: isoDate(keptFromDay), segments }, 'data older than the retention deleted'),
      onError: (fault) =>
        logger.warn(
          { fault: describeError(fault) },
          'data older than the retention could not be deleted; retrying later',
        ),
      onRecovered: () => logger.info('deletion of data older than the retention works again'),
    });
    closers.defer(() => retention.close());
  }
  return { sessions, idempotencyKeys, referrerTags, ledger, journal, analytics };
}

/** What becomes of the groups and troubles of a log. */
function logObservers(name: LogName, logger: ServiceOptions['logger'], metrics: Metrics) {
  return {
    onStored: metrics.logGroupObserver(name),
    onTrouble: (trouble: LogIncident | JournalIncident) => {
      metrics.countLogIncident(name, trouble.kind);
      logIncident(logger, name, trouble);
    },
  };
}
