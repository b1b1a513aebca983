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
import { newestSegmentStartedBefore, type ReadSince } from './log-recovery.ts';
import { LogDamagedError, SegmentReader } from './segment-reader.ts';

/** Where a reader stands: plain numbers, to be stored beside what was made of the records read so far. */
export interface LogCursor {
  /** Position of the last record read; 0 for none. */
  readonly position: number;
  /** First sequence of the segment being read; 0 before the first. */
  readonly segment: number;
  /** Byte offset of the next frame in that segment. */
  readonly offset: number;
  /** CRC of the last record read, which the next one must name. */
  readonly crc: number;
}

/**
 * The cursor does not lie on this log: the log ends before it, or went on differently (a power cut under
 * `durability: 'write'`, or a restored data folder). Whatever was derived from the log must be derived again from its start.
 */
export class CursorBeyondLogError extends Error {
  override readonly name = 'CursorBeyondLog';
}

/**
 * Follows a log from its files, in whatever thread or process it is used; the writer only tells how far it may read. It
 * holds one open file and one chunk of it, however far it is behind.
 */
export class LogReader {
  readonly #folder: string;
  readonly #files: LogFiles;
  readonly #decoder = new RecordDecoder();
  #position: number;
  #crc: number;
  /** First sequence of the segment being read; 0 before the first. */
  #segmentFirst: number;
  #offset: number;
  #segment: SegmentReader | null = null;

  /**
   * @param cursor where to go on, or null for the oldest record there is.
   * @throws CursorBeyondLogError, at once, when the cursor is not on the log as it lies there. Open the log (which recovers it)
   *   before its reader.
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

  /** After the last record visited. */
  get cursor(): LogCursor {
    return { position: this.#position, segment: this.#segmentFirst, offset: this.#offset, crc: this.#crc };
  }

  /** First sequence of the segment that the last record visited, or the one being visited, lies in. */
  get segment(): number {
    return this.#segmentFirst;
  }

  /**
   * Visits the records that follow, in order, and returns how many there were: up to `maxRecords`, and none beyond
   * `upToPosition`, which must be durable. A record whose visit throws counts as not read. Bytes inside a record are views
   * of a larger piece of the file: copy what is kept for long.
   *
   * @throws LogDamagedError when a record up to `upToPosition` cannot be read, naming file and byte offset.
   */
  read(upToPosition: number, maxRecords: number, visit: (position: number, record: unknown) => void): number {
    if (upToPosition <= this.#position) return 0;
    // A segment has its name before any of its records is durable, so one listing serves this whole call.
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
        throw new LogDamagedError(segment.path, this.#offset, `record ${this.#position + 1} is missing or not whole`);
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
      throw new LogDamagedError(this.#folder, 0, `no segment holds record ${this.#position + 1}`);
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
    if (!segments.includes(this.#segmentFirst) || superseded) throw this.#cursorBeyondLog();
    const segment = new SegmentReader(this.#files, join(this.#folder, segmentFileName(this.#segmentFirst)));
    try {
      if (!this.#isCursorIn(segment)) throw this.#cursorBeyondLog();
    } catch (error) {
      segment.close();
      throw error;
    }
    this.#segment = segment;
  }

  /**
   * Whether the record that the cursor names ends there. A log that went on differently has other records at the same
   * positions, and its segments may have the same names and grow as long; only the chain of CRCs tells. A part of it that
   * is damaged tells nothing: then the record after the cursor decides, which has to name it.
   */
  #isCursorIn(segment: SegmentReader): boolean {
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

  #cursorBeyondLog(): CursorBeyondLogError {
    return new CursorBeyondLogError(
      `${this.#folder}: the log does not reach record ${this.#position} where the cursor has it`,
    );
  }
}

/**
 * Visits the records that a log, open in this process, has taken up to the moment of the call, in order, from the newest
 * segment on that was begun before `since`. It gives way to the event loop between small pieces, and waits for the last of
 * the records to become durable.
 *
 * @throws LogUnavailableError when the log cannot be written just now, LogDamagedError when a record cannot be read.
 */
export async function readOpenLog(
  files: LogFiles,
  folder: string,
  log: Pick<EventLog<unknown>, 'appendedPosition' | 'durablePosition' | 'healthy'>,
  since: ReadSince,
  visit: (record: unknown) => void,
): Promise<void> {
  const last = log.appendedPosition;
  while (log.durablePosition < last) {
    if (!log.healthy) throw new LogUnavailableError('the log cannot be written', null);
    await pause(bounds.logLingerMs);
  }
  const first = newestSegmentStartedBefore(files, folder, segmentFirstSequences(files.listNames(folder)), since);
  const reader = new LogReader(folder, first === undefined ? null : segmentStartCursor(files, folder, first), files);
  try {
    while (reader.read(last, bounds.logRecordsReadPerTurn, (_position, record) => visit(record)) > 0) await nextTurn();
  } finally {
    reader.close();
  }
}

/** Ahead of the first record of a segment. */
function segmentStartCursor(files: LogFiles, folder: string, first: number) {
  const segment = new SegmentReader(files, join(folder, segmentFileName(first)));
  try {
    return { position: first - 1, segment: first, offset: segmentHeaderBytes, crc: segment.readHeader().previousCrc };
  } finally {
    segment.close();
  }
}
