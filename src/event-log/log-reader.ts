import { join } from 'node:path';
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import { bounds } from '../bounds.ts';
import { type EventLog, LogUnavailableError } from './event-log.ts';
import { type LogFiles, nodeLogFiles } from './log-files.ts';
import {
  decodeSegmentHeader,
  RecordDecoder,
  segmentFileName,
  segmentFirstSequences,
  segmentHeaderBytes,
} from './log-format.ts';
import { findNewestSegmentBefore, type ReadStartTime } from './log-recovery.ts';
import { LogDamagedError, SegmentReader, withSegmentReader } from './segment-reader.ts';

/** Position of a log reader. Store a cursor together with the state that is derived from the records before it. */
export interface LogCursor {
  /** Position of the last record that was read; 0 before the first record. */
  readonly position: number;
  /** First sequence of the current segment; 0 before the first segment. */
  readonly segment: number;
  /** Byte offset of the next frame in the current segment. */
  readonly offset: number;
  /** CRC of the last record that was read. */
  readonly crc: number;
}

/**
 * Error if the log does not contain the last record that the reader has read: the log ends earlier, or continued with other records (after
 * a power cut with `durability: 'write'`, or in a restored data folder). The caller must rebuild all state that is derived from the log.
 */
export class CursorBeyondLogError extends Error {
  override readonly name = 'CursorBeyondLogError';
}

/**
 * Reads the records of a log while another thread or process writes the log. The caller passes the durable position of the log. A reader
 * uses one open file and one chunk in memory.
 */
export class LogReader {
  readonly #folder: string;
  readonly #files: LogFiles;
  readonly #decoder = new RecordDecoder();
  #position: number;
  #crc: number;
  /** First sequence of the current segment; 0 before the first segment. */
  #segmentFirst: number;
  #offset: number;
  #segment: SegmentReader | null = null;

  /**
   * @param cursor position after which to continue; null to start with the oldest record
   * @throws CursorBeyondLogError if the cursor does not match the log. The log must have been opened, and so recovered, before this call.
   */
  constructor(folder: string, cursor: LogCursor | null, files: LogFiles = nodeLogFiles) {
    this.#folder = folder;
    this.#files = files;
    this.#position = cursor?.position ?? 0;
    this.#crc = cursor?.crc ?? 0;
    this.#segmentFirst = cursor?.segment ?? 0;
    this.#offset = cursor?.offset ?? 0;
    if (this.#segmentFirst > 0) this.#resumeAtCursor();
  }

  get cursor(): LogCursor {
    return { position: this.#position, segment: this.#segmentFirst, offset: this.#offset, crc: this.#crc };
  }

  /** First sequence of the current segment. */
  get segment(): number {
    return this.#segmentFirst;
  }

  /**
   * Visits the next records in order, at most `maxRecords` and up to `upToPosition`, which must be durable. Returns the number of visited
   * records. If the callback throws, its record counts as not read. Bytes in a record are views of a file chunk: copy retained bytes.
   *
   * @throws LogDamagedError if a record up to `upToPosition` cannot be read; the error contains the file and the byte offset
   */
  read(upToPosition: number, maxRecords: number, visit: (position: number, record: unknown) => void): number {
    if (upToPosition <= this.#position) return 0;
    // The file names need to be listed only once, because a segment gets its name before its first record is durable.
    const later = segmentFirstSequences(this.#files.listNames(this.#folder)).filter(
      (first) => first > this.#segmentFirst,
    );
    let upcoming = 0;
    this.#segment?.discardReadAhead();
    let visited = 0;
    while (visited < maxRecords && this.#position < upToPosition) {
      if (this.#segment === null || later[upcoming] === this.#position + 1) {
        this.#enterSegment(later[upcoming++]);
        continue;
      }
      const segment = this.#segment;
      segment.offset = this.#offset;
      if (!segment.readFrame(this.#position + 1, this.#crc)) {
        throw new LogDamagedError(segment.path, this.#offset, `record ${this.#position + 1} is missing or incomplete`);
      }
      visit(this.#position + 1, this.#decodeRecord(segment));
      this.#position++;
      this.#crc = segment.crc;
      this.#offset = segment.offset;
      visited++;
    }
    return visited;
  }

  /** Idempotent. */
  close(): void {
    this.#segment?.close();
    this.#segment = null;
  }

  #decodeRecord(segment: SegmentReader): unknown[] {
    try {
      return this.#decoder.decode(segment.payload);
    } catch (error) {
      throw new LogDamagedError(
        segment.path,
        this.#offset,
        `record ${this.#position + 1} cannot be decoded: ${String(error)}`,
      );
    }
  }

  #enterSegment(segmentFirst: number | undefined): void {
    if (segmentFirst === undefined)
      throw new LogDamagedError(this.#folder, 0, `no segment contains record ${this.#position + 1}`);
    const segment = new SegmentReader(this.#files, join(this.#folder, segmentFileName(segmentFirst)));
    try {
      const header = segment.readHeader();
      const oldest = this.#segmentFirst === 0;
      if (!oldest && (segmentFirst !== this.#position + 1 || header.previousCrc !== this.#crc)) {
        throw new LogDamagedError(segment.path, 0, `the segment does not continue record ${this.#position}`);
      }
      this.#position = segmentFirst - 1;
      this.#crc = header.previousCrc;
    } catch (error) {
      segment.close();
      throw error;
    }
    this.#segment?.close();
    this.#segment = segment;
    this.#segmentFirst = segmentFirst;
    this.#offset = segmentHeaderBytes;
  }

  #resumeAtCursor(): void {
    const segments = segmentFirstSequences(this.#files.listNames(this.#folder));
    const superseded = segments.some((first) => first > this.#segmentFirst && first <= this.#position);
    if (!segments.includes(this.#segmentFirst) || superseded) throw this.#createCursorError();
    const segment = new SegmentReader(this.#files, join(this.#folder, segmentFileName(this.#segmentFirst)));
    try {
      if (!this.#isCursorInSegment(segment)) throw this.#createCursorError();
    } catch (error) {
      segment.close();
      throw error;
    }
    this.#segment = segment;
  }

  /**
   * Whether the last record before the cursor ends at the offset of the cursor. Compares the chain of CRCs, because another log may have
   * segments of the same name and size. If a record before the cursor is damaged, looks for a later marked frame instead.
   */
  #isCursorInSegment(segment: SegmentReader): boolean {
    if (segment.size() < this.#offset) return false;
    const header = decodeSegmentHeader(segment.readBytes(0, segmentHeaderBytes));
    if (typeof header === 'string') return true;
    let crc = header.previousCrc;
    for (let position = this.#segmentFirst - 1; position < this.#position; position++) {
      if (!segment.readFrame(position + 1, crc)) return segment.examineTail(position + 1).markOffset !== null;
      crc = segment.crc;
    }
    return segment.offset === this.#offset && crc === this.#crc;
  }

  #createCursorError(): CursorBeyondLogError {
    return new CursorBeyondLogError(`${this.#folder}: the log has no record ${this.#position} at the cursor`);
  }
}

/**
 * Visits the records of an open log of this process in order, from the newest segment that began before `since` up to the last record
 * accepted before the call. Waits until the last of these records is durable. Yields to the event loop between batches.
 *
 * @throws LogUnavailableError if the log cannot be written at present, LogDamagedError if a record cannot be read
 */
export async function readOpenLog(
  files: LogFiles,
  folder: string,
  log: Pick<EventLog<unknown>, 'appendedPosition' | 'durablePosition' | 'healthy'>,
  since: ReadStartTime,
  visit: (record: unknown) => void,
): Promise<void> {
  const last = log.appendedPosition;
  while (log.durablePosition < last) {
    if (!log.healthy) throw new LogUnavailableError('the log cannot be written', null);
    await pause(bounds.logLingerMs);
  }
  const first = findNewestSegmentBefore(files, folder, segmentFirstSequences(files.listNames(folder)), since);
  const reader = new LogReader(folder, first === undefined ? null : segmentStartCursor(files, folder, first), files);
  try {
    while (reader.read(last, bounds.logRecordsReadPerTurn, (_position, record) => visit(record)) > 0) await nextTurn();
  } finally {
    reader.close();
  }
}

function segmentStartCursor(files: LogFiles, folder: string, first: number): LogCursor {
  const { previousCrc } = withSegmentReader(files, join(folder, segmentFileName(first)), (segment) =>
    segment.readHeader(),
  );
  return { position: first - 1, segment: first, offset: segmentHeaderBytes, crc: previousCrc };
}
