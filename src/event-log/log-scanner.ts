import { join } from 'node:path';
import type { LogFiles } from './log-files.ts';
import { RecordDecoder, segmentFileName, segmentFirstSequences } from './log-format.ts';
import { LogDamagedError, SegmentReader } from './segment-reader.ts';

/** A byte of a log file. */
export interface LogLocation {
  readonly file: string;
  readonly offset: number;
}

interface LogScannerOptions {
  /** First sequence of the segment to begin with; default: the oldest. */
  readonly segment?: number | undefined;
  /** Decode every record too; one that cannot be decoded is damage then. */
  readonly decode: boolean;
}

/**
 * What was being read is no longer the log: its writer went back behind it, since a write or sync failed and it repeats those
 * records elsewhere; or its segments were dropped meanwhile, as older than the retention.
 */
export class LogRewrittenError extends Error {
  override readonly name = 'LogRewritten';
}

/**
 * Steps through the records of a log from segment to segment, up to its last whole one, and checks that each continues the
 * one before it. The segment it begins with is taken at its word: those before it may have been pruned.
 *
 * It only reads, and may do so while another process writes the log: what is under way at the end is no damage, and what
 * is complete by the time the end is reached is read too.
 */
export class LogScanner {
  /** Of the record `next` stepped over; before the first, of the one ahead of it. */
  position = 0;
  crc = 0;
  /** The record itself, where the walk decodes. Bytes are views of a larger piece of the file. */
  record: readonly unknown[] = [];
  /** The segment it lies in; null before the first. */
  segment: SegmentReader | null = null;
  /** Where in this segment the last group begins that says so. */
  lastSyncedGroupOffset: number | null = null;
  /** Bytes of all records and segment headers stepped over. */
  bytesRead = 0;
  /** Once `next` has found the end: bytes behind it that are no whole record. */
  tornBytes = 0;
  readonly #files: LogFiles;
  readonly #folder: string;
  readonly #decoder: RecordDecoder | null;
  #segmentFirst = 0;
  /** A record that cannot be decoded has been stepped over by the segment, but not by the walk. */
  #endOffset = 0;
  /** First sequences of the segments that follow this one. */
  #laterSegments: number[];

  constructor(files: LogFiles, folder: string, { segment = 0, decode }: LogScannerOptions) {
    this.#files = files;
    this.#folder = folder;
    this.#decoder = decode ? new RecordDecoder() : null;
    this.#laterSegments = segmentFirstSequences(files.listNames(folder)).filter((first) => first >= segment);
  }

  /**
   * Steps over the next record; false at the end of the log.
   *
   * @throws LogDamagedError when it cannot be read although it was safe once. The walk is over then.
   * @throws LogRewrittenError when this record was written elsewhere, or dropped, meanwhile.
   */
  nextRecord(): boolean {
    for (let look = 1; ; look++) {
      let { segment } = this;
      if (segment === null || this.#laterSegments[0] === this.position + 1) {
        if (this.#laterSegments.length === 0) this.#listLaterSegments();
        const first = this.#laterSegments.shift();
        if (first === undefined) return false;
        segment = this.#enterSegment(first);
      }
      const { offset } = segment;
      if (segment.readFrame(this.position + 1, this.crc)) {
        this.#acceptRecord(segment, offset);
        return true;
      }
      if (this.#laterSegments.length > 0) {
        throw new LogDamagedError(segment.path, offset, `record ${this.position + 1} is missing or not whole`);
      }
      if (look === 1) {
        // A writer may have got further since the file and the folder were read.
        this.#listLaterSegments();
        segment.discardReadAhead();
        continue;
      }
      const { tornBytes, markOffset } = segment.examineTail(this.position + 1);
      if (markOffset === null) {
        this.tornBytes = tornBytes;
        return false;
      }
      if (look > 2) {
        const what = `record ${this.position + 1} is not whole, and records synced after it follow at byte ${markOffset}`;
        throw new LogDamagedError(segment.path, offset, what);
      }
      // It may have completed this record, and begun the next group, between the two looks: damage is what stays.
      segment.discardReadAhead();
    }
  }

  /** Bytes of the record's msgpack: a view of a larger piece of the file. */
  get payload(): Uint8Array {
    if (this.segment === null) throw new Error('there is no payload before the first record');
    return this.segment.payload;
  }

  /** Where the record ends, or the header of the segment that is to hold the first; null before that. */
  get end(): LogLocation | null {
    return this.segment === null ? null : { file: this.segment.path, offset: this.#endOffset };
  }

  /** Idempotent. */
  close(): void {
    this.segment?.close();
    this.segment = null;
  }

  #acceptRecord(segment: SegmentReader, offset: number): void {
    if (this.#decoder !== null) {
      try {
        this.record = this.#decoder.decode(segment.payload);
      } catch (error) {
        throw new LogDamagedError(segment.path, offset, `the record cannot be decoded: ${String(error)}`);
      }
    }
    this.position++;
    this.crc = segment.crc;
    this.#endOffset = segment.offset;
    this.bytesRead += segment.offset - offset;
    if (segment.hasSyncMark) this.lastSyncedGroupOffset = offset;
  }

  #enterSegment(segmentFirst: number): SegmentReader {
    const segment = this.#openSegment(segmentFirst);
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
    this.#segmentFirst = segmentFirst;
    this.lastSyncedGroupOffset = null;
    this.#endOffset = segment.offset;
    this.bytesRead += segment.offset;
    return segment;
  }

  #openSegment(first: number): SegmentReader {
    try {
      return new SegmentReader(this.#files, join(this.#folder, segmentFileName(first)));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      throw new LogRewrittenError(`${this.#folder}: the records from ${first} on were dropped while they were read`);
    }
  }

  /** Looks for segments a writer has begun since: then the one before them is complete. */
  #listLaterSegments(): void {
    this.#laterSegments = segmentFirstSequences(this.#files.listNames(this.#folder)).filter(
      (first) => first > this.#segmentFirst,
    );
    const [next] = this.#laterSegments;
    if (this.segment !== null && next !== undefined && next <= this.position) {
      throw new LogRewrittenError(
        `${this.#folder}: the records from ${next} on were written again while they were read`,
      );
    }
  }
}
