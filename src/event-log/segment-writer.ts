import { join } from 'node:path';
import { bounds } from '../bounds.ts';
import { LogUnavailableError } from './event-log.ts';
import type { LogFiles, WritableLogFile } from './log-files.ts';
import {
  computeFrameCrc,
  encodeSegmentHeader,
  frameHeaderLength,
  segmentFileName,
  segmentHeaderLength,
  sequenceFieldsFlag,
  sequenceFieldsLength,
  temporaryFileName,
  writeSequenceFields,
} from './log-format.ts';
import type { LogCursor } from './log-scanner.ts';

/** Group of encoded records (frames) that are written and synced together. The frames are contiguous in a buffer, which is reused. */
export class FrameGroup {
  #buffer = Buffer.allocUnsafeSlow(bounds.logGroupInitialBytes);
  length = 0;
  records = 0;
  firstSequence = 0;
  previousCrc = 0;
  lastCrc = 0;
  #durable: PromiseWithResolvers<void> | null = null;
  /** Promise in `LogUnavailableError.durableLater`, which resolves when the log has successfully repeated a failed write. */
  #durableLater: PromiseWithResolvers<void> | null = null;

  /** Buffer whose first `length` bytes are the encoded records of the group. */
  get encodedFrames(): Buffer {
    return this.#buffer;
  }

  add(payload: Uint8Array, sequence: number, previousCrc: number, hasSyncMark: boolean): void {
    const start = this.length + frameHeaderLength + (hasSyncMark ? sequenceFieldsLength : 0);
    const end = start + payload.length;
    if (end > this.#buffer.length) this.#growBuffer(end);
    const buffer = this.#buffer;
    const crc = computeFrameCrc(sequence, previousCrc, payload);
    buffer.writeUInt32BE(hasSyncMark ? sequenceFieldsFlag + payload.length : payload.length, this.length);
    buffer.writeUInt32BE(crc, this.length + 4);
    if (hasSyncMark) writeSequenceFields(buffer, this.length + frameHeaderLength, sequence, previousCrc);
    buffer.set(payload, start);
    if (this.records === 0) {
      this.firstSequence = sequence;
      this.previousCrc = previousCrc;
    }
    this.records++;
    this.length = end;
    this.lastCrc = crc;
  }

  /** Returns a promise that resolves when the group of records is durable. All records of the group share this promise. */
  whenDurable(): Promise<void> {
    this.#durable ??= Promise.withResolvers();
    return this.#durable.promise;
  }

  resolveAppendPromises(): void {
    // Resolves the promise of the older records (`durableLater`) first.
    this.#durableLater?.resolve();
    this.#durableLater = null;
    this.#durable?.resolve();
    this.#durable = null;
  }

  /** After a failed write, rejects the promise from `whenDurable`. Keeps the frames of the group, so that the log can write them again. */
  rejectAppendPromises(cause: unknown): void {
    if (this.#durable === null) return;
    this.#durableLater ??= Promise.withResolvers();
    this.#durable.reject(new LogUnavailableError('the log cannot be written', this.#durableLater.promise, { cause }));
    this.#durable = null;
  }

  clearFrames(): void {
    this.length = 0;
    this.records = 0;
  }

  #growBuffer(needed: number): void {
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, this.#buffer.length * 2));
    this.#buffer.copy(larger, 0, 0, this.length);
    this.#buffer = larger;
  }
}

interface OpenSegment {
  readonly file: WritableLogFile;
  readonly firstSequence: number;
  /** Offset of the next group of frames in the file, in bytes. */
  offset: number;
  /** Size of the file in bytes, including the zeros after `offset`. */
  preallocatedBytes: number;
}

interface SegmentWriterOptions {
  readonly files: LogFiles;
  readonly folder: string;
  readonly syncsGroups: boolean;
  readonly segmentBytesMax: number;
}

/** Writes record groups to segment files. Starts a new segment for the first group, after a full segment, and after a failed write. */
export class SegmentWriter {
  readonly #options: SegmentWriterOptions;
  #segment: OpenSegment | null = null;

  constructor(options: SegmentWriterOptions) {
    this.#options = options;
  }

  /** Writes the frames of a group, and returns their end as a cursor. */
  async writeFrames(group: FrameGroup): Promise<LogCursor> {
    const { syncsGroups, segmentBytesMax } = this.#options;
    let segment = this.#segment;
    if (segment === null || segment.offset + group.length > segmentBytesMax) segment = await this.#createSegment(group);
    const { file, offset } = segment;
    const end = offset + group.length;
    const growsFile = end > segment.preallocatedBytes;
    if (growsFile) await this.#preallocateSegment(segment, end);
    if (syncsGroups && !growsFile) {
      await file.writeAndSync(group.encodedFrames, group.length, offset);
    } else {
      await file.write(group.encodedFrames, group.length, offset);
      // `datasync` also syncs the preallocated zeros, so that later writes do not change the file size on disk.
      if (syncsGroups) await file.datasync();
    }
    segment.offset = end;
    const position = group.firstSequence + group.records - 1;
    return { position, segment: segment.firstSequence, offset: end, crc: group.lastCrc };
  }

  /** Writes the end mark, an empty segment that marks the log as closed (see log-format.ts). */
  async writeEndMark(firstSequence: number, previousCrc: number): Promise<void> {
    await this.#createSegment({ firstSequence, previousCrc });
  }

  /** Removes the preallocated zeros, then syncs and closes the segment. Syncs the segment even if `syncsGroups` is false. */
  async close(): Promise<void> {
    const segment = this.#segment;
    if (segment === null) return;
    if (segment.preallocatedBytes > segment.offset) await segment.file.truncate(segment.offset);
    await segment.file.datasync();
    this.#segment = null;
    await segment.file.close();
  }

  /** Closes the segment for good after a failed write or sync, because the failure may have left incomplete frames. */
  async abandonSegment(): Promise<void> {
    const segment = this.#segment;
    this.#segment = null;
    await segment?.file.close().catch(() => {});
  }

  /**
   * Writes zeros after the data. Syncing a write into preallocated zeros takes about a third less time than syncing a write that changes
   * the file size.
   */
  async #preallocateSegment(segment: OpenSegment, end: number): Promise<void> {
    const size = Math.max(end, Math.min(this.#options.segmentBytesMax, end + zeros.length));
    if (size > end) await segment.file.write(zeros, size - end, end);
    segment.preallocatedBytes = size;
  }

  async #createSegment(first: Pick<FrameGroup, 'firstSequence' | 'previousCrc'>): Promise<OpenSegment> {
    await this.close();
    const { files, folder } = this.#options;
    const name = segmentFileName(first.firstSequence);
    const temporary = join(folder, temporaryFileName(name));
    const file = await files.createFile(temporary);
    try {
      await file.write(encodeSegmentHeader(first), segmentHeaderLength, 0);
      await file.datasync();
      await files.rename(temporary, join(folder, name));
      await files.syncFolder(folder);
    } catch (error) {
      await file.close().catch(() => {});
      throw error;
    }
    const { firstSequence } = first;
    this.#segment = { file, firstSequence, offset: segmentHeaderLength, preallocatedBytes: segmentHeaderLength };
    return this.#segment;
  }
}

const zeros = Buffer.alloc(bounds.logPreallocationBytes);
