import { hash } from 'node:crypto';
import { bounds } from '../bounds.ts';
import { OperatorError } from '../domain/operator-error.ts';
import { truncateText } from '../domain/text.ts';
import type { AuditAction, AuditActorKind } from './audit-actions.ts';

/** Who makes a change. */
export interface AuditActor {
  readonly kind: AuditActorKind;
  /** System user of a command, id of an API key, or null. */
  readonly name: string | null;
}

/** The service itself, for example at its start. */
export const serviceActor: AuditActor = { kind: 'service', name: null };

/** Value in the details of a change. Details never contain keys, hashes of keys, tokens, cookies, secrets or pocket fields. */
export type AuditDetail = string | number | boolean | null | readonly AuditDetail[] | AuditDetails;
export interface AuditDetails {
  readonly [member: string]: AuditDetail;
}

/** Change that is recorded. */
export interface AuditChange {
  /** Unix time in milliseconds, by the clock of the data folder. */
  readonly timeMs: number;
  readonly actor: AuditActor;
  readonly action: AuditAction;
  /** What was changed, such as the id of a key or the name of an account. May contain hostile text. */
  readonly subject: string;
  readonly details: AuditDetails;
}

/** Stored entry. The texts are as they were stored, also if the file was changed afterwards, so they are not checked. */
export interface AuditEntry {
  readonly number: number;
  readonly timeMs: number;
  readonly actorKind: string;
  readonly actorName: string | null;
  readonly action: string;
  readonly subject: string;
  /** JSON text of the details. */
  readonly details: string;
  /** Hash of the entry before, as 64 hexadecimal digits; `zeroHash` in the first entry. */
  readonly previousHash: string;
  readonly hash: string;
}

/** Previous hash of the first entry. */
export const zeroHash = '0'.repeat(64);

/** Number and hash of an entry. */
export type AuditEntryId = Pick<AuditEntry, 'number' | 'hash'>;

/** Filter and position of one page of entries, newest first. */
export interface AuditPageQuery {
  readonly limit: number;
  /** The page contains entries with lower numbers; null for the first page. */
  readonly beforeNumber: number | null;
  /** Action of the entries, or null for all actions. */
  readonly action: string | null;
  /** Time of the oldest entries in Unix milliseconds, or null. */
  readonly sinceMs: number | null;
}

/**
 * Log of the changes that operators and partners make. Each entry contains the hash of the entry before, so that a changed, removed or
 * reordered entry is found. Several processes can append at the same time.
 */
export interface AuditLog {
  /**
   * Appends entries in one atomic step, and returns them when they are durable. The first entry of a new log is `audit.create`. Throws
   * `AuditLogUnavailableError` if the entries cannot be written; then none is written.
   */
  append(changes: readonly AuditChange[]): readonly AuditEntry[];
  /** Returns entries, newest first. Throws `AuditLogUnavailableError`. */
  listEntries(query: AuditPageQuery): readonly AuditEntry[];
  /** Returns the newest entry with an action and a subject, or null. Throws `AuditLogUnavailableError`. */
  findLastEntry(action: AuditAction, subject: string): AuditEntry | null;
}

/** Error for an audit log that cannot be read or written. The message is one line. */
export class AuditLogUnavailableError extends OperatorError {
  override readonly name = 'AuditLogUnavailableError';
}

/**
 * Records a change that is about to take effect. Returns the number of the entry, which is then durable. Throws `AuditLogUnavailableError`;
 * the change must then not take effect.
 */
export type RecordChange = (action: AuditAction, subject: string, details?: AuditDetails) => number;

/** Content of an entry that its hash covers. */
export type HashedContent = Omit<AuditEntry, 'hash'>;

/** Returns the content of the entry of a change. Texts are truncated, so that every entry is bounded. */
export function toEntryContent(
  { timeMs, actor, action, subject, details }: AuditChange,
  number: number,
  previousHash: string,
): HashedContent {
  return {
    number,
    timeMs,
    actorKind: actor.kind,
    actorName: actor.name === null ? null : boundText(actor.name),
    action,
    subject: boundText(subject),
    details: encodeDetails(details),
    previousHash,
  };
}

/**
 * Returns the hash of an entry: SHA-256 of the UTF-8 text of a JSON array without spaces, with the members of the entry in this order
 * (docs/operating.md#hash-chain). `details` is an element with the stored JSON text.
 */
export function hashEntry(content: HashedContent): string {
  const { number, timeMs, actorKind, actorName, action, subject, details, previousHash } = content;
  return hash(
    'sha256',
    JSON.stringify([number, timeMs, actorKind, actorName, action, subject, details, previousHash]),
    'hex',
  );
}

/** Replaces lone surrogates, which SQLite cannot store, and truncates the text. */
function boundText(text: string): string {
  return truncateText(text, bounds.auditTextCharactersMax).toWellFormed();
}

function encodeDetails(details: AuditDetails): string {
  const text = JSON.stringify(details);
  return text.length <= bounds.auditDetailsCharactersMax ? text : JSON.stringify({ omitted_characters: text.length });
}
