import { join } from 'node:path';
import type { LogFiles } from './log-files.ts';
import { decodeHeader, firstSequences, headerBytes, segmentName } from './log-format.ts';
import { nodeLogFiles } from './node-log-files.ts';
import { RecordDecoder } from './record-decoder.ts';
import { LogDamaged, SegmentReader } from './segment-reader.ts';

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
export class CursorBeyondLog extends Error {
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
  #first: number;
  #offset: number;
  #segment: SegmentReader | null = null;

  /**
   * @param cursor where to go on, or null for the oldest record there is.
   * @throws CursorBeyondLog, at once, when the cursor is not on the log as it lies there. Open the log (which recovers it)
   *   before its reader.
   */
  constructor(folder: string, cursor: LogCursor | null, files: LogFiles = nodeLogFiles) {
    this.#folder = folder;
    this.#files = files;
    this.#position = cursor?.position ?? 0;
    this.#crc = cursor?.crc ?? 0;
    this.#first = cursor?.segment ?? 0;
    this.#offset = cursor?.offset ?? 0;
    if (this.#first > 0) this.#continue();
  }

  /** After the last record visited. */
  get cursor(): LogCursor {
    return { position: this.#position, segment: this.#first, offset: this.#offset, crc: this.#crc };
  }

  /** First sequence of the segment that the last record visited, or the one being visited, lies in. */
  get segment(): number {
    return this.#first;
  }

  /**
   * Visits the records that follow, in order, and returns how many there were: up to `maxRecords`, and none beyond
   * `upToPosition`, which must be durable. A record whose visit throws counts as not read. Bytes inside a record are views
   * of a larger piece of the file: copy what is kept for long.
   *
   * @throws LogDamaged when a record up to `upToPosition` cannot be read, naming file and byte offset.
   */
  read(upToPosition: number, maxRecords: number, visit: (position: number, record: unknown) => void): number {
    if (upToPosition <= this.#position) return 0;
    // A segment has its name before any of its records is durable, so one listing serves this whole call.
    const later = firstSequences(this.#files.list(this.#folder)).filter((first) => first > this.#first);
    let upcoming = 0;
    this.#segment?.refresh();
    let visited = 0;
    while (visited < maxRecords && this.#position < upToPosition) {
      if (this.#segment === null || later[upcoming] === this.#position + 1) {
        this.#enter(later[upcoming++]);
        continue;
      }
      const segment = this.#segment;
      segment.offset = this.#offset;
      if (!segment.next(this.#position + 1, this.#crc)) {
        throw new LogDamaged(segment.path, this.#offset, `record ${this.#position + 1} is missing or not whole`);
      }
      visit(this.#position + 1, this.#decode(segment));
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

  #decode(segment: SegmentReader): unknown[] {
    try {
      return this.#decoder.decode(segment.payload);
    } catch (error) {
      throw new LogDamaged(
        segment.path,
        this.#offset,
        `record ${this.#position + 1} cannot be decoded: ${String(error)}`,
      );
    }
  }

  #enter(first: number | undefined): void {
    if (first === undefined) throw new LogDamaged(this.#folder, 0, `no segment holds record ${this.#position + 1}`);
    const segment = new SegmentReader(this.#files, join(this.#folder, segmentName(first)));
    try {
      const header = segment.header();
      const oldest = this.#first === 0;
      if (!oldest && (first !== this.#position + 1 || header.previousCrc !== this.#crc)) {
        throw new LogDamaged(segment.path, 0, `the segment does not continue record ${this.#position}`);
      }
      this.#position = first - 1;
      this.#crc = header.previousCrc;
    } catch (error) {
      segment.close();
      throw error;
    }
    this.#segment?.close();
    this.#segment = segment;
    this.#first = first;
    this.#offset = headerBytes;
  }

  #continue(): void {
    const segments = firstSequences(this.#files.list(this.#folder));
    const superseded = segments.some((first) => first > this.#first && first <= this.#position);
    if (!segments.includes(this.#first) || superseded) throw this.#beyond();
    const segment = new SegmentReader(this.#files, join(this.#folder, segmentName(this.#first)));
    try {
      if (!this.#liesIn(segment)) throw this.#beyond();
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
  #liesIn(segment: SegmentReader): boolean {
    if (segment.size() < this.#offset) return false;
    const header = decodeHeader(segment.bytesAt(0, headerBytes));
    if (typeof header === 'string') return true;
    let crc = header.previousCrc;
    for (let position = this.#first - 1; position < this.#position; position++) {
      if (!segment.next(position + 1, crc)) return segment.examineTail(position + 1).markOffset !== null;
      crc = segment.crc;
    }
    return segment.offset === this.#offset && crc === this.#crc;
  }

  #beyond(): CursorBeyondLog {
    return new CursorBeyondLog(
      `${this.#folder}: the log does not reach record ${this.#position} where the cursor has it`,
    );
  }
}
