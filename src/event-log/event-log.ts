/**
 * Port of an append-only log with one writer. Positions are sequence numbers, starting with 1. Records become durable in the order of their
 * positions.
 */
export interface EventLog<Item> {
  /**
   * Appends a record and returns its position. Returns null if the log refuses the record: the file cannot be written, too many bytes wait
   * to be written, or the log is closed. The record's bytes are copied before `append` returns.
   */
  append(record: Item): AppendedRecord | null;
  /**
   * Appends a record for which no caller waits, such as a view. Returns the position of the record, or null if the log refuses the record.
   * The record is written to the file within `logLingerMs`. Unlike `append`, `appendWithoutWaiting` also accepts records while the file
   * cannot be written.
   */
  appendWithoutWaiting(record: Item): number | null;
  /** Position of the last appended record, durable or not; 0 for an empty log. */
  readonly lastAppendedPosition: number;
  /** Position of the last durable record. */
  readonly durablePosition: number;
  /** `healthy` is false from a failed write until the next successful write. While `healthy` is false, the service is not ready. */
  readonly healthy: boolean;
  /** Sets the listener that is called with the new `durablePosition` after each increase. */
  setDurabilityListener(listener: (position: number) => void): void;
  /** Writes all appended records, marks the end of the log, and closes the file. Repeated calls of `close` have no effect. */
  close(): Promise<void>;
}

export interface AppendedRecord {
  readonly position: number;
  /**
   * Resolves when the record is durable. Rejects with `LogUnavailableError` if a write failed. If the promise rejects, the log keeps the
   * record in memory and writes the record when the file can be written again.
   */
  readonly durable: Promise<void>;
}

/** Error for a record that the log refused, or that did not become durable in time. */
export class LogUnavailableError extends Error {
  override readonly name = 'LogUnavailableError';
  /**
   * Promise that resolves when the record is durable; null if the log refused the record. The promises of a log resolve in the order of the
   * records. `durableLater` never rejects, and stays pending forever if the log is closed before the record is durable.
   */
  readonly durableLater: Promise<void> | null;

  constructor(message: string, durableLater: Promise<void> | null, options?: ErrorOptions) {
    super(message, options);
    this.durableLater = durableLater;
  }
}
