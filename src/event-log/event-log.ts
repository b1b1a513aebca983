/**
 * Port of an append-only log with one writer. The position of a record is its sequence number, starting with 1. A record becomes
 * durable only after all records with smaller positions.
 */
export interface EventLog<Item> {
  /**
   * Appends a record and returns its position. Returns null if the log refuses the record: the file cannot be written, too many bytes
   * wait to be written, or the log is closed. Copies the record's bytes before it returns.
   */
  append(record: Item): AppendedRecord | null;
  /**
   * Appends a record for which no caller waits, such as a view. Returns its position, or null if the log refuses the record. The record
   * is written up to `logLingerMs` later. The log accepts such records even while the file cannot be written.
   */
  appendWithoutWaiting(record: Item): number | null;
  /** Position of the last appended record, durable or not; 0 for an empty log. */
  readonly appendedPosition: number;
  /** Position of the last durable record. */
  readonly durablePosition: number;
  /** Whether the log can be written. False from a failed write until a write succeeds; the service is then not ready. */
  readonly healthy: boolean;
  /** Sets the listener that is called with the new `durablePosition` after each increase, in a later turn of the event loop. */
  onDurable(listener: (position: number) => void): void;
  /** Writes all appended records, marks the end of the log, and closes the file. Repeated calls have no effect. */
  close(): Promise<void>;
}

export interface AppendedRecord {
  readonly position: number;
  /**
   * Resolves when the record is durable. Rejects with `LogUnavailableError` if a write failed. The log still has the record then, and
   * writes it once the file can be written again.
   */
  readonly durable: Promise<void>;
}

/** A record was refused, or did not become durable in time. */
export class LogUnavailableError extends Error {
  override readonly name = 'LogUnavailableError';
  /**
   * Null if the log refused the record. Otherwise resolves when the record is durable, in log order and before the promise of any later
   * record. Never rejects, and never settles if the log is closed first.
   */
  readonly durableLater: Promise<void> | null;

  constructor(message: string, durableLater: Promise<void> | null, options?: ErrorOptions) {
    super(message, options);
    this.durableLater = durableLater;
  }

  /** Whether the log has accepted the record and will write it. */
  get isAppended(): boolean {
    return this.durableLater !== null;
  }
}
