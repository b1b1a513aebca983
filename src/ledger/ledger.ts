import { bounds } from '../bounds.ts';
import type { EventLog } from '../event-log/event-log.ts';
import { type FileEventLog, type FileEventLogOptions, openEventLog } from '../event-log/file-event-log.ts';
import { LogReader, readRecentRecords } from '../event-log/log-reader.ts';
import type { LogCursor } from '../event-log/log-scanner.ts';
import { type LedgerRecord, parseLedgerRecord, parseRecordTimeMs } from './ledger-record.ts';

/** Interface of the ledger: the event log of sessions, views, clicks, confirmations and widget events. */
export type Ledger = EventLog<LedgerRecord>;

/** State that is derived from the records of the ledger. */
export interface LedgerSubscriber {
  /** Unix time in milliseconds of the oldest stored record that the subscriber needs when the service starts. */
  readonly replayStartTimeMs: number;
  /**
   * Position of the oldest stored record that the subscriber needs even if the record is older than `replayStartTimeMs`; absent or infinity
   * if there is no such record.
   */
  readonly replayStartPosition?: number;
  /**
   * Applies the record at a position. Records are applied in ledger order: first the stored records, then each new record before `append` returns. The byte
   * arrays in the record are valid only during this call. `applyLedgerRecord` must not throw.
   */
  applyLedgerRecord(record: LedgerRecord, position: number): void;
}

export interface OpenLedgerOptions
  extends Omit<FileEventLogOptions<LedgerRecord>, 'onRecord' | 'readSince' | 'onAppended'> {
  /** Subscribers that receive the stored records while the ledger is opened, and each new record afterwards. */
  readonly subscribers: readonly LedgerSubscriber[];
  /** Subscribers that receive only stored records. Each stored record is passed to `recoveries` first, and then to `subscribers`. */
  readonly recoveries: readonly LedgerSubscriber[];
  /** Cursor, checked by `hasLedgerSpan`, after which some subscriber needs the records; null if there is none. */
  readonly cursor?: LogCursor | null;
}

/**
 * Opens the ledger in a folder, and applies each stored record, in order, to all `recoveries` and `subscribers`. Skips stored values that
 * are not valid ledger records.
 *
 * @throws LogDamagedError if a durable record cannot be read
 */
export function openLedger({
  subscribers,
  recoveries,
  cursor = null,
  ...options
}: OpenLedgerOptions): Promise<FileEventLog<LedgerRecord>> {
  const all = [...recoveries, ...subscribers];
  const wallMs = Math.min(...all.map(({ replayStartTimeMs }) => replayStartTimeMs));
  const positions = all.map(({ replayStartPosition = Number.POSITIVE_INFINITY }) => replayStartPosition);
  const position = Math.min(cursor === null ? Number.POSITIVE_INFINITY : cursor.position + 1, ...positions);
  const startsAtCursor = cursor !== null && wallMs === Number.POSITIVE_INFINITY && position === cursor.position + 1;
  return openEventLog<LedgerRecord>({
    ...options,
    readSince: startsAtCursor ? cursor : { wallMs, position, timeMsOf: parseRecordTimeMs },
    onRecord: (position, value) => {
      const record = parseLedgerRecord(value);
      if (record === null) return;
      for (const each of all) each.applyLedgerRecord(record, position);
    },
    onAppended: (record, position) => {
      for (const subscriber of subscribers) subscriber.applyLedgerRecord(record, position);
    },
  });
}

/**
 * Visits, in order, all valid records that were appended between `sinceMs` (Unix milliseconds) and the call, and some older records,
 * because only whole segments are skipped.
 *
 * @throws LogUnavailableError if the ledger cannot be written at present, LogDamagedError if a record cannot be read
 */
export function readLedgerSince(
  folder: string,
  ledger: Pick<EventLog<LedgerRecord>, 'lastAppendedPosition' | 'durablePosition' | 'healthy'>,
  sinceMs: number,
  visit: (record: LedgerRecord, position: number) => void,
): Promise<void> {
  const since = { wallMs: sinceMs, timeMsOf: parseRecordTimeMs };
  return readRecentRecords(folder, ledger, since, (value, position) => {
    const record = parseLedgerRecord(value);
    if (record !== null) visit(record, position);
  });
}

/** Part of a ledger: the records after a cursor, up to the record at `end`. */
export interface LedgerSpan {
  readonly start: LogCursor;
  readonly end: { readonly position: number; readonly crc: number };
}

/**
 * Whether the ledger of a folder contains these records. The CRC of a record depends on all records before it. The result is false if the
 * ledger cannot be read, or if an earlier record in the segment of the start is damaged.
 */
export function hasLedgerSpan(folder: string, { start, end }: LedgerSpan): boolean {
  let reader: LogReader | null = null;
  try {
    reader = new LogReader(folder, start, false);
    while (reader.readRecords(end.position, bounds.logRecordsReadPerTurn, () => {}) > 0);
    return reader.cursor.position === end.position && reader.cursor.crc === end.crc;
  } catch {
    return false;
  } finally {
    reader?.close();
  }
}
