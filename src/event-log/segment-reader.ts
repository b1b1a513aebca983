import { bounds } from '../bounds.ts';
import { OperatorError } from '../domain/operator-error.ts';
import type { LogFiles, ReadableLogFile } from './log-files.ts';
import type { SegmentHeader } from './log-format.ts';
import {
  chainFieldsBytes,
  decodeSegmentHeader,
  frameCrc,
  frameHeaderBytes,
  readSequence,
  segmentHeaderBytes,
  syncMarkBit,
} from './log-format.ts';

/** A place in a log file where something is wrong that reading cannot get over. */
export class LogDamagedError extends OperatorError {
  override readonly name = 'LogDamaged';
  override readonly isDamage = true;
  readonly file: string;
  readonly offset: number;
  /** What is wrong there, in words. */
  readonly reason: string;

  constructor(file: string, offset: number, reason: string) {
    super(`${file}: damaged at byte ${offset}: ${reason}`);
    this.file = file;
    this.offset = offset;
    this.reason = reason;
  }
}

/**
 * Steps through the frames of one segment, a chunk in memory at a time.
 *
 * A payload is a view of a chunk that is never written again, so whoever keeps it keeps the chunk: short of holding on to
 * it for long, nobody needs to copy.
 */
export class SegmentReader {
  readonly path: string;
  readonly #file: ReadableLogFile;
  #chunk: Buffer = Buffer.alloc(0);
  /** Where in the file the chunk begins. */
  #chunkOffset = 0;
  /** Offset of the next frame. */
  offset: number;
  /** Of the frame `next` stepped over. */
  payload: Uint8Array = this.#chunk;
  crc = 0;
  hasSyncMark = false;

  constructor(files: LogFiles, path: string, offset: number = segmentHeaderBytes) {
    this.path = path;
    this.#file = files.openForReading(path);
    this.offset = offset;
  }

  /** The segment's header. Throws `LogDamagedError`. */
  readHeader(): SegmentHeader {
    const header = decodeSegmentHeader(this.readBytes(0, segmentHeaderBytes));
    if (typeof header === 'string') throw new LogDamagedError(this.path, 0, header);
    return header;
  }

  size(): number {
    return this.#file.size();
  }

  /** Forgets what was read ahead: the writer may have got further since. */
  discardReadAhead(): void {
    this.#chunk = this.#chunk.subarray(0, 0);
  }

  /** Steps over the frame at `offset`; false, without moving, when no whole, genuine frame is there. */
  readFrame(sequence: number, previousCrc: number): boolean {
    const head = this.readBytes(this.offset, frameHeaderBytes + chainFieldsBytes);
    if (head.length < frameHeaderBytes) return false;
    const lengthWord = head.readUInt32BE(0);
    const hasSyncMark = lengthWord >= syncMarkBit;
    const length = hasSyncMark ? lengthWord - syncMarkBit : lengthWord;
    if (length === 0 || length > bounds.logRecordBytesMax) return false;
    const start = hasSyncMark ? frameHeaderBytes + chainFieldsBytes : frameHeaderBytes;
    if (hasSyncMark) {
      if (head.length < start || readSequence(head, frameHeaderBytes) !== sequence) return false;
      if (head.readUInt32BE(frameHeaderBytes + 8) !== previousCrc) return false;
    }
    const frame = this.readBytes(this.offset, start + length);
    if (frame.length < start + length) return false;
    const payload = frame.subarray(start);
    const crc = frame.readUInt32BE(4);
    if (crc !== frameCrc(sequence, previousCrc, payload)) return false;
    this.payload = payload;
    this.crc = crc;
    this.hasSyncMark = hasSyncMark;
    this.offset += start + length;
    return true;
  }

  /**
   * What lies behind `offset`, where `next` found no frame of `sequence`: how many bytes until nothing but zeros follows,
   * and where the first marked frame of a later sequence begins, which shows that `sequence` had been synced once.
   */
  examineTail(sequence: number): { readonly tornBytes: number; readonly markOffset: number | null } {
    const size = this.size();
    const markedHead = frameHeaderBytes + chainFieldsBytes;
    let tornBytes = 0;
    for (let at = this.offset; at < size; ) {
      const chunk = this.readBytes(at, Math.min(bounds.logReadChunkBytes, size - at));
      if (chunk.length === 0) break;
      // A head across the end of the chunk is left for the next one.
      const scanned = at + chunk.length < size ? chunk.length - markedHead + 1 : chunk.length;
      for (let i = 0; i < scanned; i++) {
        if (chunk[i] === 0) continue;
        tornBytes = at + i + 1 - this.offset;
        // Lengths stay below 2^24, so this is the first byte of every marked frame.
        if (chunk[i] !== syncMarkBit >>> 24 || i + markedHead > chunk.length) continue;
        const length = chunk.readUInt32BE(i) - syncMarkBit;
        const found = readSequence(chunk, i + frameHeaderBytes);
        if (length === 0 || length > bounds.logRecordBytesMax || found <= sequence || found > sequence + size) continue;
        const frame = this.readBytes(at + i, markedHead + length);
        if (frame.length < markedHead + length) continue;
        const previousCrc = frame.readUInt32BE(frameHeaderBytes + 8);
        if (frame.readUInt32BE(4) === frameCrc(found, previousCrc, frame.subarray(markedHead))) {
          return { tornBytes, markOffset: at + i };
        }
      }
      at += scanned;
    }
    return { tornBytes, markOffset: null };
  }

  /** The bytes from `from` up to `to`, or to the end of the file, in order. A piece is overwritten by no later one. */
  *readChunks(from: number, to: number): Generator<Buffer, void> {
    for (let at = from; at < to; ) {
      const piece = this.readBytes(at, Math.min(bounds.logReadChunkBytes, to - at));
      if (piece.length === 0) return;
      yield piece;
      at += piece.length;
    }
  }

  close(): void {
    this.#file.close();
  }

  /** Up to `length` bytes of the file from `offset` on, fewer at its end. */
  readBytes(offset: number, length: number): Buffer {
    const from = offset - this.#chunkOffset;
    if (from >= 0 && from + length <= this.#chunk.length) return this.#chunk.subarray(from, from + length);
    const wanted = Math.max(length, bounds.logReadChunkBytes);
    const chunk = Buffer.allocUnsafeSlow(Math.max(0, Math.min(wanted, this.#file.size() - offset)));
    this.#chunk = chunk.subarray(0, this.#file.read(chunk, offset));
    this.#chunkOffset = offset;
    return this.#chunk.subarray(0, length);
  }
}
