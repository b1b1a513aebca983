import type { LedgerRecord } from '../ledger/ledger-record.ts';

/**
 * The log port: what happened, in order, durable before it is answered. One writer, one order: a record's position is its
 * sequence number, 1 for the first ever, and no record is durable before all those ahead of it.
 */
export interface EventLog {
  /**
   * Appends a record; the promise settles when the group it travels in is durable. Everything the record refers to is
   * copied before the call returns. Rejects with `LogUnavailableError` when the log is full, closed or cannot be written.
   */
  append(record: LedgerRecord): Promise<void>;
  /** Appends a record nobody waits for (a view): it rides the next group. False when the log cannot take it. */
  appendWithoutWaiting(record: LedgerRecord): boolean;
  /** Position of the last record appended, durable or not; 0 when there is none. */
  readonly appendedPosition: number;
  /** Position up to which everything is durable. */
  readonly durablePosition: number;
  /** False from a failed write or sync until the log works again: readiness goes red. */
  readonly healthy: boolean;
  /** Calls back, never re-entrantly, after each group that became durable. One listener. */
  onDurable(listener: (position: number) => void): void;
  /** Makes everything appended durable, marks the end of the log, and closes the files. Idempotent. */
  close(): Promise<void>;
}

/** A record did not become durable in time: the log is full, closed, or its file cannot be written. */
export class LogUnavailableError extends Error {
  override readonly name = 'LogUnavailable';
  /**
   * Null when the log refused the record. Otherwise the log writes the record as soon as it works again, and this promise
   * resolves when the record is durable: in the order of the log, and before the promise of any later `append`. It stays
   * pending when the log closes first, and never rejects.
   */
  readonly durableLater: Promise<void> | null;

  constructor(message: string, durableLater: Promise<void> | null, options?: ErrorOptions) {
    super(message, options);
    this.durableLater = durableLater;
  }

  /** Whether the log took the record all the same. */
  get isAppended(): boolean {
    return this.durableLater !== null;
  }
}
