import type { AuditEntry, AuditLog } from '../audit/audit-log.ts';
import type { ConfirmationStatus } from '../confirmations/confirmation.ts';
import type { RejectionReason } from '../confirmations/rejection-reasons.ts';
import { formatIsoTimestamp } from '../domain/calendar.ts';

/** Entry of the audit log in an answer. */
export type AuditEntryView = ReturnType<typeof toAuditEntryView>;

/** Upload of confirmations in an answer. */
export type ConfirmationUploadView = ReturnType<typeof toConfirmationUploadView>;

/** Returns an entry of the audit log in the format of the operations API and the command line. */
export function toAuditEntryView(entry: AuditEntry) {
  const { number, timeMs, actorKind, actorName, action, subject, previousHash, hash } = entry;
  return {
    number,
    time: formatIsoTimestamp(timeMs),
    actor: actorKind,
    actor_name: actorName,
    action,
    subject,
    details: parseDetails(entry),
    previous_hash: previousHash,
    hash,
  };
}

/**
 * Returns an upload of confirmations from its entry `confirmations.submit`, with the counts of its result. `completed_at` and the counts are
 * null while the upload is in progress, and if the process was killed during the upload.
 */
export function toConfirmationUploadView(submitted: AuditEntry, log: Pick<AuditLog, 'findLastEntry'>) {
  const result = log.findLastEntry('confirmations.result', submitted.subject);
  const sent: UploadDetails = parseDetails(submitted);
  const counts: UploadDetails = result === null ? {} : parseDetails(result);
  return {
    batch: submitted.subject,
    submitted_at: formatIsoTimestamp(submitted.timeMs),
    completed_at: result === null ? null : formatIsoTimestamp(result.timeMs),
    actor: submitted.actorKind,
    actor_name: submitted.actorName,
    rows: sent.rows ?? null,
    bytes: sent.bytes ?? null,
    outcome: counts.outcome ?? null,
    accepted: counts.accepted ?? null,
    repeated: counts.repeated ?? null,
    rejected: counts.rejected ?? null,
    unknown: counts.unknown ?? null,
    accepted_by_status: counts.accepted_by_status ?? null,
    rejected_by_reason: counts.rejected_by_reason ?? null,
  };
}

/** Details of the entries of an upload. An entry has a part of the members. */
interface UploadDetails {
  readonly rows?: number;
  readonly bytes?: number | null;
  readonly outcome?: 'processed' | 'refused' | 'failed';
  readonly accepted?: number;
  readonly repeated?: number;
  readonly rejected?: number;
  readonly unknown?: number;
  readonly accepted_by_status?: Readonly<Record<ConfirmationStatus, number>>;
  readonly rejected_by_reason?: Readonly<Partial<Record<RejectionReason, number>>>;
}

/** Parses the details of an entry. Returns an empty object for a text that is not a JSON object, because the file may have been changed. */
function parseDetails({ details }: AuditEntry): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(details));
  } catch {
    return {};
  }
}
