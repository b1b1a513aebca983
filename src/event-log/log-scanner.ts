import { join } from 'node:path';
import { OperatorError } from '../domain/operator-error.ts';
import type { LogFiles } from './log-files.ts';
import { parseSegmentFileNames, RecordDecoder, segmentFileName } from './log-format.ts';
import { LogDamagedError, SegmentReader } from './segment-reader.ts';

export interface LogLocation {
  readonly file: string;
  readonly offset: number;
}

/** Position of a log reader. A program that stores results computed from the records must store the cursor together with these results. */
export interface LogCursor {
  /** Position of the last record that was read; 0 before the first record. */
  readonly position: number;
  /** First sequence number of the current segment; 0 before the first segment. */
  readonly segment: number;
  /** Byte offset of the next frame in the current segment. */
  readonly offset: number;
  readonly crc: number;
}

interface LogScannerOptions {
  /** First sequence number of the segment in which the scan starts; undefined to start in the oldest segment. */
  readonly segment?: number | undefined;
  /** Whether to decode the record at a position. A record that cannot be decoded is damage. */
  readonly decode: boolean | ((position: number) => boolean);
}

/** Error if another process deleted records during the scan, or moved records to a new segment after a failed write. */
export class LogRewrittenError extends OperatorError {
  override readonly name = 'LogRewrittenError';

  constructor(what: string, options?: ErrorOptions) {
    super(`${what}; run the command again`, options);
  }
}

/**
 * Reads the records of a log one by one up to the last complete record, and checks that each record continues the chain of CRCs. The oldest
 * segment may start with any record, because earlier segments may have been deleted.
 *
 * The scanner never writes to the log. Another process may append records during the scan, and the scanner also reads these records. An
 * incomplete record at the end of the log is not damage.
 */
export class LogScanner {
  /** Position of the current record; before the first record is read, position of the preceding record, or 0 if no segment is open. */
  position = 0;
  crc = 0;
  /** Current record, if it was decoded. The next record overwrites the memory of its byte arrays. */
  record: readonly unknown[] = [];
  /** Segment of the current record, with the record as msgpack bytes in `payload`; null before the first record. */
  segment: SegmentReader | null = null;
  /** Offset of the last frame with a sync mark (see log-format.ts) in the current segment, or null. */
  lastSyncedGroupOffset: number | null = null;
  /** Number of bytes in all scanned records and segment headers. */
  bytesRead = 0;
  /** Number of bytes after the last complete record; valid after `nextRecord` has returned false. */
  tornBytes = 0;
  readonly #files: LogFiles;
  readonly #folder: string;
  readonly #decoder = new RecordDecoder();
  readonly #isDecoded: (position: number) => boolean;
  /** First sequence number of the current segment. */
  segmentFirst: number;
  /** End offset of the last record that was read and decoded. If decoding fails, `segment.offset` is already after the failed record. */
  #endOffset = 0;
  /** First sequence number of each segment after the current segment. */
  #laterSegments: number[] = [];

  constructor(files: LogFiles, folder: string, { segment = 1, decode }: LogScannerOptions) {
    this.#files = files;
    this.#folder = folder;
    this.#isDecoded = typeof decode === 'function' ? decode : () => decode;
    this.segmentFirst = segment - 1;
    this.#listLaterSegments();
  }

  /** Continues the scan at a cursor in an open segment. The scanner, not the caller, closes `segment`. */
  continueAtSegment(segment: SegmentReader, cursor: LogCursor): void {
    this.segment = segment;
    this.segmentFirst = cursor.segment;
    this.position = cursor.position;
    this.crc = cursor.crc;
    this.#endOffset = cursor.offset;
    segment.offset = cursor.offset;
    this.#laterSegments = this.#laterSegments.filter((first) => first > cursor.segment);
  }

  /** Location of the next record; position and segment are 0 before the first segment. */
  get cursor(): LogCursor {
    // The end offset is 0 only until a segment is opened, because every segment starts with a header.
    const segment = this.#endOffset === 0 ? 0 : this.segmentFirst;
    return { position: this.position, segment, offset: this.#endOffset, crc: this.crc };
  }

  /** Discards buffered bytes and lists the segments again, so that the next read also finds new records. */
  refreshSegments(): void {
    this.#listLaterSegments();
    this.segment?.discardReadAhead();
  }

  /** Opens the next segment if that segment starts with the next record. Returns the current segment; null if no segment exists. */
  enterNextSegment(): SegmentReader | null {
    if (this.segment !== null && this.#laterSegments[0] !== this.position + 1) return this.segment;
    if (this.#laterSegments.length === 0) this.#listLaterSegments();
    const first = this.#laterSegments.shift();
    return first === undefined ? null : this.#switchToSegment(first);
  }

  /**
   * Reads the next record. Returns false at the end of the log.
   *
   * @throws LogDamagedError if a durable record cannot be read; the scan cannot continue after this error
   * @throws LogRewrittenError if the writer moved or deleted the record during the scan
   */
  nextRecord(): boolean {
    for (let attempt = 1; ; attempt++) {
      const segment = this.enterNextSegment();
      if (segment === null) return false;
      const { offset } = segment;
      if (segment.readFrame(this.position + 1, this.crc)) {
        this.#setCurrentRecord(segment, offset);
        return true;
      }
      if (this.#laterSegments.length > 0) {
        throw new LogDamagedError(segment.path, offset, `record ${this.position + 1} is missing or incomplete`);
      }
      if (attempt === 1) {
        this.refreshSegments();
        continue;
      }
      const { tornBytes, markOffset } = segment.inspectSegmentTail(this.position + 1);
      if (markOffset === null) {
        this.tornBytes = tornBytes;
        return false;
      }
      if (attempt > 2) {
        const reason = `record ${this.position + 1} is incomplete, but durable records follow at byte ${markOffset}`;
        throw new LogDamagedError(segment.path, offset, reason);
      }
      // Reads the frame again, because another process may have completed the frame since `readFrame` failed.
      segment.discardReadAhead();
    }
  }

  /** End of the current record, or end of the header if the segment is empty; null if no segment is open. */
  get end(): LogLocation | null {
    return this.segment === null ? null : { file: this.segment.path, offset: this.#endOffset };
  }

  /** Idempotent. */
  close(): void {
    this.segment?.close();
    this.segment = null;
  }

  #setCurrentRecord(segment: SegmentReader, offset: number): void {
    if (this.#isDecoded(this.position + 1)) {
      try {
        this.record = this.#decoder.decodeRecord(segment.payload);
      } catch (error) {
        throw new LogDamagedError(
          segment.path,
          offset,
          `record ${this.position + 1} cannot be decoded: ${String(error)}`,
        );
      }
    }
    this.position++;
    this.crc = segment.crc;
    this.#endOffset = segment.offset;
    this.bytesRead += segment.offset - offset;
    if (segment.hasSyncMark) this.lastSyncedGroupOffset = offset;
  }

  #switchToSegment(segmentFirst: number): SegmentReader {
    const segment = openSegmentFile(this.#files, this.#folder, segmentFirst);
    try {
      const header = segment.readHeader();
      if (this.segment === null) {
        this.position = segmentFirst - 1;
        this.crc = segmentFirst === 1 ? 0 : header.previousCrc;
      }
      if (header.firstSequence !== this.position + 1 || header.previousCrc !== this.crc) {
        throw new LogDamagedError(segment.path, 0, `the segment does not continue record ${this.position}`);
      }
    } catch (error) {
      segment.close();
      throw error;
    }
    this.segment?.close();
    this.segment = segment;
    this.segmentFirst = segmentFirst;
    this.lastSyncedGroupOffset = null;
    this.#endOffset = segment.offset;
    this.bytesRead += segment.offset;
    return segment;
  }

  /** Lists segments that are newer than the current segment. A segment is complete once a newer segment exists. */
  #listLaterSegments(): void {
    this.#laterSegments = parseSegmentFileNames(this.#files.listFiles(this.#folder)).filter(
      (first) => first > this.segmentFirst,
    );
    const [next] = this.#laterSegments;
    if (this.segment !== null && next !== undefined && next <= this.position) {
      throw new LogRewrittenError(
        `${this.#folder}: the records from ${next} on were moved to another segment during the scan`,
      );
    }
  }
}

/** Opens a segment. Throws `LogRewrittenError` if the segment was deleted after the folder was listed. */
export function openSegmentFile(files: LogFiles, folder: string, first: number): SegmentReader {
  try {
    return new SegmentReader(files, join(folder, segmentFileName(first)));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    throw new LogRewrittenError(`${folder}: the records from ${first} on were deleted during the scan`);
  }
}
