import { bounds } from '../bounds.ts';
import { OperatorError } from '../domain/operator-error.ts';
import type { LogFiles, ReadableLogFile } from './log-files.ts';
import type { SegmentHeader } from './log-format.ts';
import {
  computeFrameCrc,
  decodeSegmentHeader,
  frameHeaderLength,
  readSequenceNumber,
  segmentHeaderLength,
  sequenceFieldsFlag,
  sequenceFieldsLength,
} from './log-format.ts';

/** Error for a log file that is damaged at a byte offset. */
export class LogDamagedError extends OperatorError {
  override readonly name = 'LogDamagedError';
  override readonly isDamage = true;
  readonly file: string;
  readonly offset: number;
  readonly reason: string;

  constructor(file: string, offset: number, reason: string) {
    super(`${file}: damaged at byte ${offset}: ${reason}`);
    this.file = file;
    this.offset = offset;
    this.reason = reason;
  }
}

/**
 * Reads the frames (encoded records, see log-format.ts) of one segment in chunks. All chunks of a segment use the same memory, because new
 * memory for each chunk would cause garbage collections of several milliseconds. So a payload is valid only until the next `readFrame`.
 */
export class SegmentReader {
  readonly path: string;
  readonly #file: ReadableLogFile;
  /** Memory for the chunks that `readFrame` reads. */
  #memory: Buffer = Buffer.alloc(0);
  #chunk = this.#memory;
  #chunkOffset = 0;
  /** File offset of the next frame in bytes. */
  offset = segmentHeaderLength;
  /** Payload of the last frame that `readFrame` accepted. */
  payload: Uint8Array = this.#chunk;
  crc = 0;
  hasSyncMark = false;

  constructor(files: LogFiles, path: string) {
    this.path = path;
    this.#file = files.openForReading(path);
  }

  /** Reads the segment header. Throws `LogDamagedError` if the header is invalid. */
  readHeader(): SegmentHeader {
    const header = decodeSegmentHeader(this.readBytes(0, segmentHeaderLength));
    if (typeof header === 'string') throw new LogDamagedError(this.path, 0, header);
    return header;
  }

  size(): number {
    return this.#file.size();
  }

  /** Discards the buffered chunk, because bytes may have been written to the file since the chunk was read. */
  discardReadAhead(): void {
    this.#chunk = this.#chunk.subarray(0, 0);
  }

  /** Reads the frame at `offset` and advances `offset`. Returns false, with `offset` unchanged, if the frame is incomplete or invalid. */
  readFrame(sequence: number, previousCrc: number): boolean {
    const head = this.#readAhead(frameHeaderLength);
    if (head === null) return false;
    const lengthWord = this.#chunk.readUInt32BE(head);
    const hasSyncMark = lengthWord >= sequenceFieldsFlag;
    const length = hasSyncMark ? lengthWord - sequenceFieldsFlag : lengthWord;
    if (length === 0 || length > bounds.logRecordBytesMax) return false;
    const start = hasSyncMark ? frameHeaderLength + sequenceFieldsLength : frameHeaderLength;
    const frame = this.#readAhead(start + length);
    if (frame === null) return false;
    const chunk = this.#chunk;
    if (hasSyncMark) {
      if (readSequenceNumber(chunk, frame + frameHeaderLength) !== sequence) return false;
      if (chunk.readUInt32BE(frame + frameHeaderLength + 8) !== previousCrc) return false;
    }
    const payload = chunk.subarray(frame + start, frame + start + length);
    const crc = chunk.readUInt32BE(frame + 4);
    if (crc !== computeFrameCrc(sequence, previousCrc, payload)) return false;
    this.payload = payload;
    this.crc = crc;
    this.hasSyncMark = hasSyncMark;
    this.offset += start + length;
    return true;
  }

  /**
   * Examines the rest of the segment after `readFrame` found no valid frame for record number `sequence` at `offset`. `tornBytes` is the
   * number of bytes from `offset` up to the last examined byte that is not zero. `markOffset` is the offset of the next frame with a sync
   * mark, or null. A frame with a sync mark after `offset` proves that record number `sequence` was durable and is now damaged.
   */
  inspectSegmentTail(sequence: number): { readonly tornBytes: number; readonly markOffset: number | null } {
    const size = this.size();
    const markedHead = frameHeaderLength + sequenceFieldsLength;
    let tornBytes = 0;
    for (let at = this.offset; at < size; ) {
      const chunk = this.readBytes(at, Math.min(bounds.logReadChunkBytes, size - at));
      if (chunk.length === 0) break;
      // Neighboring chunks overlap, so that every frame header is complete in at least one chunk.
      const scanned = at + chunk.length < size ? chunk.length - markedHead + 1 : chunk.length;
      for (let i = 0; i < scanned; i++) {
        if (chunk[i] === 0) continue;
        tornBytes = at + i + 1 - this.offset;
        // The first byte of a frame with a sync mark is always `sequenceFieldsFlag >>> 24`, because payloads are shorter than 2^24 bytes.
        if (chunk[i] !== sequenceFieldsFlag >>> 24 || i + markedHead > chunk.length) continue;
        const length = chunk.readUInt32BE(i) - sequenceFieldsFlag;
        const found = readSequenceNumber(chunk, i + frameHeaderLength);
        if (length === 0 || length > bounds.logRecordBytesMax || found <= sequence || found > sequence + size) continue;
        const frame = this.readBytes(at + i, markedHead + length);
        if (frame.length < markedHead + length) continue;
        const previousCrc = frame.readUInt32BE(frameHeaderLength + 8);
        if (frame.readUInt32BE(4) === computeFrameCrc(found, previousCrc, frame.subarray(markedHead))) {
          return { tornBytes, markOffset: at + i };
        }
      }
      at += scanned;
    }
    return { tornBytes, markOffset: null };
  }

  /** Reads the bytes from offset `from` to offset `to`, or to the end of the file. Only `readFrame` overwrites the returned chunks. */
  *readChunks(from: number, to: number): Generator<Buffer, void> {
    for (let offset = from; offset < to; ) {
      const chunk = this.readBytes(offset, Math.min(bounds.logReadChunkBytes, to - offset));
      if (chunk.length === 0) return;
      yield chunk;
      offset += chunk.length;
    }
  }

  close(): void {
    this.#file.close();
  }

  /** Returns `length` bytes from `offset` on, or fewer bytes at the end of the file. Only `readFrame` overwrites the returned bytes. */
  readBytes(offset: number, length: number): Buffer {
    const from = offset - this.#chunkOffset;
    if (from >= 0 && from + length <= this.#chunk.length) return this.#chunk.subarray(from, from + length);
    const chunk = Buffer.allocUnsafeSlow(this.#chunkLengthAt(offset, length));
    this.#readChunk(chunk, offset);
    return this.#chunk.subarray(0, length);
  }

  /** Makes the chunk contain `length` bytes from `this.offset` on, and returns their index in it. Returns null if the file ends before. */
  #readAhead(length: number): number | null {
    const { offset } = this;
    const index = offset - this.#chunkOffset;
    if (index >= 0 && index + length <= this.#chunk.length) return index;
    const wanted = this.#chunkLengthAt(offset, length);
    if (this.#memory.length < wanted) this.#memory = Buffer.allocUnsafeSlow(wanted);
    this.#readChunk(this.#memory.subarray(0, wanted), offset);
    return length <= this.#chunk.length ? 0 : null;
  }

  /** Returns the length of a chunk at `offset` that contains `length` bytes, unless the file is shorter. */
  #chunkLengthAt(offset: number, length: number): number {
    return Math.max(0, Math.min(Math.max(length, bounds.logReadChunkBytes), this.#file.size() - offset));
  }

  #readChunk(target: Buffer, offset: number): void {
    this.#chunk = target.subarray(0, this.#file.read(target, offset));
    this.#chunkOffset = offset;
  }
}

/** Opens a segment, passes its reader to a function, and closes the segment. */
export function withSegmentReader<Result>(
  files: LogFiles,
  path: string,
  use: (segment: SegmentReader) => Result,
): Result {
  const segment = new SegmentReader(files, path);
  try {
    return use(segment);
  } finally {
    segment.close();
  }
}
