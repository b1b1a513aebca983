import { join } from 'node:path';
import type { Gatekeeper } from '../access/gatekeeper.ts';
import { analyticsFiles } from '../analytics/analytics-files.ts';
import { Retention } from '../analytics/retention.ts';
import { startThreadAnalytics } from '../analytics/thread-analytics.ts';
import { bounds } from '../bounds.ts';
import type { ClickBudget } from '../clicks/click-budget.ts';
import type { DailyCaps } from '../clicks/daily-caps.ts';
import type { Closers } from '../closers.ts';
import { isoDate } from '../domain/calendar.ts';
import { dropSegments } from '../events/drop-segments.ts';
import { type LogTrouble, openEventLog } from '../events/file-event-log.ts';
import { recordTimeMs } from '../events/ledger-record.ts';
import { nodeLogFiles } from '../events/node-log-files.ts';
import { FileJournal, type JournalTrouble } from '../journal/file-journal.ts';
import { describeFault } from '../logs/describe-fault.ts';
import type { LogName } from '../metrics/log-names.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { SecretRing } from '../secrets/secret-ring.ts';
import { IdempotencyKeys } from '../sessions/idempotency-keys.ts';
import { MemorySessionStore } from '../sessions/memory-session-store.ts';
import { ReferrerTags } from '../sessions/referrer-tags.ts';
import { RestoreFromLedger } from '../sessions/restore-from-ledger.ts';
import { logTrouble } from './log-trouble.ts';
import { requireJournal } from './missing-folder.ts';
import { restoreReferrerTags } from './restore-referrer-tags.ts';
import type { ServiceOptions } from './service.ts';
import { shard } from './shard.ts';
import { verticalsOf } from './verticals-of.ts';
import { visitSoundRecord } from './visit-sound-record.ts';

/** What happened, what is still live of it, and what it adds up to. */
export async function openHistory(
  options: ServiceOptions,
  closers: Closers,
  secrets: SecretRing,
  gatekeeper: Gatekeeper,
  caps: DailyCaps,
  budget: ClickBudget,
  metrics: Metrics,
) {
  const { dataDir, clock, logger, onReadBack } = options;
  const { ttlMs: sessionTtlMs, max: sessionsMax, tagsMax } = options.sessions;
  const files = analyticsFiles(dataDir);
  const sessions = new MemorySessionStore({
    clock,
    sessionsMax,
    sessionTtlMs,
    fieldsMax: Math.max(...verticalsOf(options).map(({ fields }) => fields.length)),
    parts: bounds.sessionStoreParts,
    sweepMs: bounds.sessionSweepMs,
  });
  closers.add(() => sessions.close());

  const idempotencyKeys = new IdempotencyKeys({
    clock,
    secrets,
    rememberedMs: sessionTtlMs,
    keysMax: bounds.idempotencyKeysMax,
  });
  const restore = new RestoreFromLedger({
    clock,
    sessions,
    sessionTtlMs,
    verticals: verticalsOf(options),
    onKeyedSession: (keyed, sub) => idempotencyKeys.restore(keyed, sub),
    onClick: (sub) => budget.restore(sub),
  });
  const ledger = await openEventLog({
    folder: files.ledgerFolder,
    shard,
    durability: options.durability,
    onRecord: (_position, record) => {
      restore.visit(record);
      if (!caps.idle) visitSoundRecord(record, (sound) => caps.see(sound));
    },
    visitSince: {
      wallMs: caps.idle ? restore.neededSinceMs : Math.min(restore.neededSinceMs, caps.neededSinceMs),
      timeOf: recordTimeMs,
    },
    onRead: onReadBack && ((bytes, ofBytes) => onReadBack('ledger', bytes, ofBytes)),
    ...watchedLog('ledger', logger, metrics),
  });
  closers.add(() => ledger.close());
  for (const [keyNumber, count] of restore.sessionsToday) {
    gatekeeper.restoreSessions(keyNumber, restore.today, count);
  }

  const journalFolder = join(dataDir, 'journal');
  requireJournal(journalFolder, sessions.size);
  const journal = await FileJournal.open({
    folder: journalFolder,
    shard,
    durability: options.durability,
    clock,
    secrets,
    verticals: verticalsOf(options),
    keptMs: sessionTtlMs,
    onMerge: (sub, changes) => restore.visitMerge(sub, changes),
    onRead: onReadBack && ((bytes, ofBytes) => onReadBack('journal', bytes, ofBytes)),
    ...watchedLog('journal', logger, metrics),
  });
  closers.add(() => journal.close());

  const analytics = await startThreadAnalytics({
    files,
    log: ledger,
    onCrash: (fault) => {
      metrics.aggregatorRestarted();
      logger.error({ fault: describeFault(fault) }, 'aggregator died; it is being started again');
    },
    onRecovered: () => logger.info('aggregator is running again'),
    onRebuild: (reason) => {
      metrics.analyticsRebuilt();
      logger.warn({ reason }, 'analytics store is being rebuilt from the ledger');
    },
    onRebuilt: () => logger.info('analytics store rebuilt'),
  });
  closers.add(() => analytics.close());
  ledger.onDurable((position) => analytics.durable(position));
  const referrerTags = new ReferrerTags(tagsMax);
  await restoreReferrerTags(analytics, ledger.appendedPosition, referrerTags, closers);

  if (options.retentionDays !== null) {
    const retention = new Retention({
      days: options.retentionDays,
      clock,
      analytics,
      dropLedger: (beforePosition) => dropSegments(nodeLogFiles, files.ledgerFolder, beforePosition),
      onGivenUp: ({ keptFromDay, segments }) =>
        logger.info({ keptFrom: isoDate(keptFromDay), segments }, 'data older than the retention deleted'),
      onFault: (fault) =>
        logger.warn(
          { fault: describeFault(fault) },
          'data older than the retention could not be deleted; retrying later',
        ),
      onRecovered: () => logger.info('deletion of data older than the retention works again'),
    });
    closers.add(() => retention.close());
  }
  return { sessions, idempotencyKeys, referrerTags, ledger, journal, analytics };
}

/** What becomes of the groups and troubles of a log. */
function watchedLog(name: LogName, logger: ServiceOptions['logger'], metrics: Metrics) {
  return {
    onStored: metrics.groupsOf(name),
    onTrouble: (trouble: LogTrouble | JournalTrouble) => {
      metrics.logTrouble(name, trouble.kind);
      logTrouble(logger, name, trouble);
    },
  };
}
