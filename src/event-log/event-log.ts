/**
 * Port of an append-only log with one writer. A record's position is its sequence number, 1 for the first record ever. No
 * record is durable before all records with smaller positions.
 */
export interface EventLog<Item> {
  /**
   * Appends a record and returns its position, or null when the log refuses the record: its file cannot be written, too many
   * bytes wait to be written, or the log is closed. Copies the record's bytes before it returns.
   */
  append(record: Item): AppendedRecord | null;
  /**
   * Appends a record that no caller waits for (a view), and returns its position, or null when the log refuses it. Such a
   * record is written up to `logLingerMs` later, and is accepted even while the file cannot be written.
   */
  appendWithoutWaiting(record: Item): number | null;
  /** Position of the last appended record, durable or not; 0 for an empty log. */
  readonly appendedPosition: number;
  /** Position of the last durable record. */
  readonly durablePosition: number;
  /** False from a failed write until the log can be written again. The service is not ready meanwhile. */
  readonly healthy: boolean;
  /** Sets the listener that is called, in a later turn, with the new `durablePosition` whenever it has grown. */
  onDurable(listener: (position: number) => void): void;
  /** Writes all appended records, marks the end of the log, and closes its file. Idempotent. */
  close(): Promise<void>;
}

export interface AppendedRecord {
  readonly position: number;
  /**
   * Resolves when the record is durable. Rejects with `LogUnavailableError` when a write failed: the log keeps the record and
   * writes it once the file can be written again.
   */
  readonly durable: Promise<void>;
}

/** A record did not become durable in time. */
export class LogUnavailableError extends Error {
  override readonly name = 'LogUnavailableError';
  /**
   * Null when the log refused the record. Otherwise resolves when the record is durable, in log order and before the promise
   * of any later record. It stays pending when the log closes first, and never rejects.
   */
  readonly durableLater: Promise<void> | null;

  constructor(message: string, durableLater: Promise<void> | null, options?: ErrorOptions) {
    super(message, options);
    this.durableLater = durableLater;
  }

  /** Whether the log has the record and will write it. */
  get isAppended(): boolean {
    return this.durableLater !== null;
  }
}
