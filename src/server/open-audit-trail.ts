import { AuditLogUnavailableError } from '../audit/audit-log.ts';
import { AuditTrail } from '../audit/audit-trail.ts';
import { openAuditLog } from '../audit/open-audit-log.ts';
import type { SqliteAuditLog } from '../audit/sqlite-audit-log.ts';
import { bounds } from '../bounds.ts';
import type { Clock } from '../domain/clock.ts';
import type { AuditLogEnd } from '../files/data-inventory.ts';
import { describeError } from '../logging/describe-error.ts';
import type { CleanupStack } from './lifecycle.ts';
import { type ServiceOptions, sharedDir } from './service.ts';

export interface OpenedAudit {
  readonly log: SqliteAuditLog;
  readonly trail: AuditTrail;
  /** Returns the end of the log for the inventory; the last known end while the log cannot be read. */
  readonly readEnd: () => AuditLogEnd | null;
}

/**
 * Opens the audit log of the data folder. The log is written by the main thread, but only for changes of operators and experiments. Throws
 * `DataMissingError` if entries are lost, and `AuditLogUnavailableError`.
 */
export function openAuditTrail(
  options: Pick<ServiceOptions, 'shard' | 'dataDir' | 'logger'>,
  clock: Clock,
  cleanup: CleanupStack,
): OpenedAudit {
  const { logger } = options;
  const log = openAuditLog(sharedDir(options), bounds.auditServerLockTimeoutMs);
  cleanup.addCleanupCallback(() => log.close());
  const trail = new AuditTrail({
    log,
    clock,
    onWriteError: (error) => logger.error({ err: describeError(error) }, 'audit log could not be written'),
    onRecovered: () => logger.info('audit log can be written again'),
    onLost: (entries) => logger.error({ entries }, 'audit log entries lost'),
  });
  cleanup.addCleanupCallback(() => trail.close());
  let known: AuditLogEnd | null = null;
  const readEnd = (): AuditLogEnd | null => {
    try {
      const end = log.readEnd();
      const firstHash = known?.firstHash ?? log.readEntriesAfter(0, 1)[0]?.hash;
      known = end === null || firstHash === undefined ? null : { ...end, firstHash };
    } catch (error) {
      if (!(error instanceof AuditLogUnavailableError)) throw error;
    }
    return known;
  };
  return { log, trail, readEnd };
}
