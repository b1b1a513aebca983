import { existsSync } from 'node:fs';
import Database from 'better-sqlite3';
import { readDataInventory } from '../files/data-inventory.ts';
import { DataMissingError } from '../files/data-paths.ts';
import { AuditLogUnavailableError } from './audit-log.ts';
import { auditLogPath, SqliteAuditLog } from './sqlite-audit-log.ts';

const acceptAuditLossCommand = 'marketplace audit repair --yes';

/** Difference between the audit log and what the inventory of the data folder knows about it. */
export type AuditLoss = {
  /** `foreign`: the audit log of another data folder. */
  readonly kind: 'missing' | 'damaged' | 'older' | 'foreign';
  readonly error: DataMissingError;
};

/** Opens the audit log of a data folder, or creates it. Throws `DataMissingError` if entries are lost, and `AuditLogUnavailableError`. */
export function openAuditLog(dataDir: string, waitMs: number): SqliteAuditLog {
  const opened = tryOpenAuditLog(dataDir, waitMs);
  if (opened.loss === null) return opened.log;
  opened.log?.close();
  throw opened.loss.error;
}

type OpenedAuditLog =
  | { readonly log: SqliteAuditLog; readonly loss: null }
  | { readonly log: SqliteAuditLog | null; readonly loss: AuditLoss };

/**
 * Opens the audit log of a data folder, and compares it with the inventory. A log that is missing or damaged is not opened if the inventory
 * knows entries. A folder of an earlier release has no audit log, so a new one is created. Throws `AuditLogUnavailableError`.
 */
export function tryOpenAuditLog(dataDir: string, waitMs: number): OpenedAuditLog {
  const path = auditLogPath(dataDir);
  const known = readDataInventory(dataDir).inventory.audit;
  const toLoss = (kind: AuditLoss['kind'], details: string): AuditLoss => ({
    kind,
    error: new DataMissingError(path, details),
  });
  const remedy = `put the current file back; to continue without the lost entries, run ${acceptAuditLossCommand}`;
  if (known !== undefined && !existsSync(path)) {
    return { log: null, loss: toLoss('missing', `is missing, but had ${known.number} entries: ${remedy}`) };
  }
  let log: SqliteAuditLog | undefined;
  try {
    log = new SqliteAuditLog(path, waitMs);
    const end = log.readEnd();
    if (known === undefined) return { log, loss: null };
    const firstHash = log.readEntriesAfter(0, 1)[0]?.hash;
    const isOther = (hash: string | null | undefined, expected: string | undefined) =>
      hash != null && expected !== undefined && hash !== expected;
    if (isOther(firstHash, known.firstHash) || isOther(log.findHash(known.number), known.hash)) {
      const foreign = `is not the audit log of this data folder: put the current file back; to continue without it, move this file away and run ${acceptAuditLossCommand}`;
      return { log, loss: toLoss('foreign', foreign) };
    }
    const last = end?.number ?? 0;
    if (last >= known.number) return { log, loss: null };
    const older = `is older than the data folder (it has entries up to ${last}, the data folder up to ${known.number}): ${remedy}`;
    return { log, loss: toLoss('older', older) };
  } catch (error) {
    log?.close();
    if (!isDamage(error)) throw error;
    return { log: null, loss: toLoss('damaged', `is damaged: ${remedy}`) };
  }
}

/** Whether SQLite found that the content of the file is damaged. */
function isDamage(error: unknown): boolean {
  const { cause } = error instanceof AuditLogUnavailableError ? error : {};
  return cause instanceof Database.SqliteError && /^SQLITE_(CORRUPT|NOTADB)/.test(cause.code);
}
