import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { bounds } from '../bounds.ts';
import { type EventLog, LogUnavailableError } from './event-log.ts';
import { nodeFileSystem } from './log-files.ts';
import { decodeSegmentHeader, parseSegmentFileNames, segmentFileName, segmentHeaderLength } from './log-format.ts';
import { findNewestSegmentBefore, type ReplayStartPosition } from './log-recovery.ts';
import { type LogCursor, LogScanner } from './log-scanner.ts';
import { LogDamagedError, SegmentReader } from './segment-reader.ts';

/**
 * Error if the log no longer contains the last record that was read, for example after a power cut with durability `write` or after a
 * backup was restored. After this error, the caller must recompute all data that depends on the log.
 */
export class CursorBeyondLogError extends Error {
  override readonly name = 'CursorBeyondLogError';
}

/** Reads a log up to a durable position, even while another thread or process writes. After an error, the reader can only be closed. */
export class LogReader {
  readonly #folder: string;
  readonly #scanner: LogScanner;
  /** Highest position up to which records were durable when the scanner last listed the segments. */
  #listedUpToPosition = 0;

  /**
   * @param start cursor after which to continue, or first sequence number of the segment to start with; null to start with the oldest
   * record
   * @param toleratesDamage whether a record before the cursor in the same segment may be damaged
   * @throws CursorBeyondLogError if the cursor does not match the log, or if a record before the cursor is damaged and `toleratesDamage` is
   * false. Open the log before you create a reader, because opening the log recovers it.
   */
  constructor(folder: string, start: LogCursor | number | null, toleratesDamage = true) {
    this.#folder = folder;
    const segment = typeof start === 'number' ? start : undefined;
    this.#scanner = new LogScanner(nodeFileSystem, folder, { segment, decode: true });
    if (start === null || typeof start === 'number' || start.segment === 0) return;
    this.#scanner.continueAtSegment(openAtCursor(folder, start, toleratesDamage), start);
  }

  get cursor(): LogCursor {
    return this.#scanner.cursor;
  }

  /**
   * Visits the next records in order: at most `maxRecords` records, and no record after `upToPosition`. The record at `upToPosition` must
   * be durable. Returns the number of visited records. The next record overwrites the memory of the byte arrays in a record, so the caller
   * must copy bytes that it retains.
   *
   * @throws LogDamagedError if a record up to `upToPosition` cannot be read; the error contains the file and the byte offset
   */
  readRecords(
    upToPosition: number,
    maxRecords: number,
    visit: (position: number, record: unknown, segment: number) => void,
  ): number {
    const scanner = this.#scanner;
    if (upToPosition <= scanner.position) return 0;
    // All segments up to `upToPosition` are already in the folder, because a segment gets its file name before its first record is durable.
    // Bytes that were read ahead are kept while they can contain the next records: to read them again would cost more than to decode them.
    if (upToPosition > this.#listedUpToPosition) {
      scanner.refreshSegments();
      this.#listedUpToPosition = upToPosition;
    }
    if (scanner.segment === null) scanner.enterNextSegment();
    let visited = 0;
    for (; visited < maxRecords && scanner.position < upToPosition; visited++) {
      if (!scanner.nextRecord()) {
        const { file, offset } = scanner.end ?? { file: this.#folder, offset: 0 };
        throw new LogDamagedError(file, offset, `record ${scanner.position + 1} is missing or incomplete`);
      }
      visit(scanner.position, scanner.record, scanner.segmentFirst);
    }
    return visited;
  }

  /** Idempotent. */
  close(): void {
    this.#scanner.close();
  }
}

/**
 * Opens the segment that contains a cursor. Throws `CursorBeyondLogError` if the log does not contain the record before the cursor, or if a
 * record before the cursor in the segment is damaged and `toleratesDamage` is false.
 */
function openAtCursor(folder: string, cursor: LogCursor, toleratesDamage: boolean): SegmentReader {
  const cursorError = new CursorBeyondLogError(`${folder}: the log has no record ${cursor.position} at the cursor`);
  const segments = parseSegmentFileNames(nodeFileSystem.listFiles(folder));
  const isSuperseded = segments.some((first) => first > cursor.segment && first <= cursor.position);
  if (!segments.includes(cursor.segment) || isSuperseded) throw cursorError;
  const segment = new SegmentReader(nodeFileSystem, join(folder, segmentFileName(cursor.segment)));
  try {
    if (!isCursorInSegment(segment, cursor, toleratesDamage)) throw cursorError;
  } catch (error) {
    segment.close();
    throw error;
  }
  return segment;
}

/**
 * Whether the record at `cursor.position` ends at `cursor.offset`. Compares the CRCs of all records up to the cursor, because a segment of
 * another log can have the same file name and the same size.
 *
 * If a record before the cursor is damaged, the CRCs cannot be compared. Then the result is false. With `toleratesDamage`, it is true if a
 * later frame has a sync mark (see log-format.ts).
 */
function isCursorInSegment(segment: SegmentReader, cursor: LogCursor, toleratesDamage: boolean): boolean {
  if (segment.size() < cursor.offset) return false;
  const header = decodeSegmentHeader(segment.readBytes(0, segmentHeaderLength));
  if (typeof header === 'string') return toleratesDamage;
  let crc = header.previousCrc;
  for (let position = cursor.segment; position <= cursor.position; position++) {
    if (!segment.readFrame(position, crc))
      return toleratesDamage && segment.inspectSegmentTail(position).markOffset !== null;
    crc = segment.crc;
  }
  return segment.offset === cursor.offset && crc === cursor.crc;
}

/**
 * Visits the records of a log that this process has opened, in order. The first visited record is the first record of the newest segment
 * that starts before `since`. The last visited record is the last record that was appended before the call. Before the first call of
 * `visit`, waits until the last record is durable. Reads in slices of less than a millisecond, with a pause after each, so that requests
 * that are served meanwhile hardly wait.
 *
 * @throws LogUnavailableError if the log cannot be written at present, LogDamagedError if a record cannot be read
 */
export async function readRecentRecords(
  folder: string,
  log: Pick<EventLog<unknown>, 'lastAppendedPosition' | 'durablePosition' | 'healthy'>,
  since: ReplayStartPosition,
  visit: (record: unknown, position: number) => void,
): Promise<void> {
  const last = log.lastAppendedPosition;
  while (log.durablePosition < last) {
    if (!log.healthy) throw new LogUnavailableError('the log cannot be written', null);
    await pause(bounds.logLingerMs);
  }
  const firsts = parseSegmentFileNames(nodeFileSystem.listFiles(folder));
  const reader = new LogReader(folder, findNewestSegmentBefore(nodeFileSystem, folder, firsts, since) ?? null);
  try {
    while (reader.readRecords(last, bounds.logRecordsReadPerSlice, (position, record) => visit(record, position)) > 0)
      await pause(bounds.logReadPauseMs);
  } finally {
    reader.close();
  }
}
