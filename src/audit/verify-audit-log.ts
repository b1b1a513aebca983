import { bounds } from '../bounds.ts';
import { type AuditEntry, type AuditEntryId, hashEntry, zeroHash } from './audit-log.ts';
import type { SqliteAuditLog } from './sqlite-audit-log.ts';

/** Result of the verification of an audit log. */
export interface AuditVerification {
  /** Number of correct entries before the first problem. */
  readonly entries: number;
  /** Last correct entry, or null. */
  readonly end: AuditEntryId | null;
  /** Number of entries that are lost, as entries `audit.accept_loss` say. */
  readonly lostEntries: number;
  /** First problem, or null: the number of the entry, and a sentence about it. */
  readonly problem: { readonly number: number; readonly text: string } | null;
}

interface VerifyOptions {
  /** Entry that the inventory of the data folder knows, or null. */
  readonly known: AuditEntryId | null;
  readonly onEntriesRead?: (entries: number) => void;
  readonly signal?: AbortSignal;
}

/**
 * Verifies the hash chain from the first entry on, in parts of bounded size. Finds changed, removed, inserted and reordered entries, and
 * missing entries at the end up to the entry that the inventory knows. Throws `AuditLogUnavailableError` if the file is damaged.
 */
export async function verifyAuditLog(
  log: Pick<SqliteAuditLog, 'readEntriesAfter'>,
  { known, onEntriesRead, signal }: VerifyOptions,
): Promise<AuditVerification> {
  let entries = 0;
  let lostEntries = 0;
  let end: AuditEntryId | null = null;
  for (;;) {
    const page = log.readEntriesAfter(end?.number ?? Number.MIN_SAFE_INTEGER, bounds.auditEntriesPerRead);
    for (const entry of page) {
      const text = findProblem(entry, end, known);
      if (text !== null) return { entries, end, lostEntries, problem: { number: entry.number, text } };
      lostEntries += entry.number - (end?.number ?? 0) - 1;
      end = { number: entry.number, hash: entry.hash };
      entries++;
    }
    onEntriesRead?.(page.length);
    if (page.length < bounds.auditEntriesPerRead) break;
    await new Promise(setImmediate);
    signal?.throwIfAborted();
  }
  const endNumber = end?.number ?? 0;
  const problem =
    known !== null && endNumber < known.number
      ? { number: endNumber + 1, text: `is missing: inventory.json knows entries up to ${known.number}` }
      : null;
  return { entries, end, lostEntries, problem };
}

/** Returns why an entry does not follow the entry before, or null. */
function findProblem(entry: AuditEntry, previous: AuditEntryId | null, known: AuditEntryId | null): string | null {
  const { number, action, details, previousHash, hash } = entry;
  const expected = (previous?.number ?? 0) + 1;
  if (number < 1) return 'has a number below 1';
  if (hashEntry(entry) !== hash) return 'was changed: its hash is not the hash of its content';
  const acceptedLoss = action === 'audit.accept_loss' && isLoss(details, expected, number - 1);
  if (number !== expected && !acceptedLoss) {
    const missing = number - 1 === expected ? `entry ${expected} is` : `entries ${expected} to ${number - 1} are`;
    return `does not follow the entry before: ${missing} missing`;
  }
  if (previous === null && acceptedLoss) return null;
  if (previousHash !== (previous?.hash ?? zeroHash)) {
    return 'does not follow the entry before: it has the hash of another entry';
  }
  if (number === known?.number && hash !== known.hash) return 'is not the entry that inventory.json knows';
  return null;
}

function isLoss(details: string, from: number, to: number): boolean {
  return details === JSON.stringify({ lost_from: from, lost_to: to });
}
