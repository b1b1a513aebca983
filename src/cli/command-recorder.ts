import { userInfo } from 'node:os';
import process from 'node:process';
import type { AuditActor, RecordChange } from '../audit/audit-log.ts';
import { openAuditLog } from '../audit/open-audit-log.ts';
import { bounds } from '../bounds.ts';
import type { Clock } from '../domain/clock.ts';
import { findRootDir } from '../files/data-paths.ts';

/**
 * Returns the function with which a command records a change of the data folder, or of the folder of a shard, before it takes effect, in
 * the name of the system user. The function opens the audit log for each entry. It throws `DataMissingError` if entries of the audit log
 * are lost, and `AuditLogUnavailableError`; the command must then change nothing.
 */
export function createCommandRecorder(dataDir: string, clock: Pick<Clock, 'wallMs'>): RecordChange {
  return (action, subject, details = {}) => {
    const log = openAuditLog(findRootDir(dataDir), bounds.auditCommandLockTimeoutMs);
    try {
      const change = { timeMs: clock.wallMs(), actor: commandLineActor(), action, subject, details };
      return log.append([change])[0]!.number;
    } finally {
      log.close();
    }
  };
}

/** Returns the actor of a command: the system user of the process. */
export function commandLineActor(): AuditActor {
  return { kind: 'command_line', name: readUserName() };
}

/** Returns the name of the system user; its number if the system knows no name, as in a container with another user. */
function readUserName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}
