import { crc32 } from 'node:zlib';
import { Decoder } from '@msgpack/msgpack';
import { bounds } from '../bounds.ts';

/**
 * How a log lies on disk. All numbers are big-endian.
 *
 * A log is a folder of segments, each named after the sequence number of its first record, zero-padded so that names sort
 * like numbers. A segment is a header and then frames, end to end:
 *
 *     header  magic 8 | format version u32 | shard u32 | first sequence u64 | previous CRC u32 | CRC-32 of these 28 u32
 *     frame   length u32 | CRC u32 | payload
 *     frame   length u32 with the mark bit | CRC u32 | sequence u64 | previous CRC u32 | payload
 *
 * `length` counts the payload alone. The CRC-32 of a frame runs over sequence, previous CRC and payload, whether or not the
 * first two are written down: every frame vouches for its place in the chain, so one that was lost, repeated, swapped or
 * left over from an earlier life of the file does not verify. A segment's header carries the CRC of the last record before
 * it, which ties segments to each other. The chain begins at sequence 1 after CRC 0.
 *
 * The mark bit says that everything ahead of this frame had been synced when it was written. Such a frame verifies without
 * knowing what precedes it, so recovery can tell two things apart that look alike where they begin: a tail torn by a crash
 * (no marked frame follows; nothing there was ever acknowledged) and damage to records that were safe (one does).
 *
 * Which copy wins. After a failed write or sync a segment is never written again. The frames in doubt are repeated in a new
 * segment whose first sequence is the first of them. A reader therefore leaves a segment as soon as it reaches the first
 * sequence of the next one, and whatever lies behind that point in the older file is void. A segment that holds nothing
 * before that point has the same name as its successor, which replaces it by the rename.
 *
 * A log that was closed ends in an empty segment, its end mark: the header names the last record and its CRC, so a record that
 * is missing before it is damage and no torn tail. The first segment that is written afterwards has the same name and the
 * same header, and replaces it.
 */
export const segmentHeaderBytes = 32;
export const frameHeaderBytes = 8;
export const chainFieldsBytes = 12;
export const syncMarkBit = 0x8000_0000;

const magic = Buffer.from('svc-log\n', 'latin1');
const formatVersion = 1;
const headerCrcOffset = 28;

/** Value of the header's shard field in every file written so far. */
const shard = 0;

export interface SegmentHeader {
  readonly firstSequence: number;
  readonly previousCrc: number;
}

export function encodeSegmentHeader(header: SegmentHeader): Buffer {
  const bytes = Buffer.alloc(segmentHeaderBytes);
  magic.copy(bytes);
  bytes.writeUInt32BE(formatVersion, 8);
  bytes.writeUInt32BE(shard, 12);
  bytes.writeBigUInt64BE(BigInt(header.firstSequence), 16);
  bytes.writeUInt32BE(header.previousCrc, 24);
  bytes.writeUInt32BE(crc32(bytes.subarray(0, headerCrcOffset)), headerCrcOffset);
  return bytes;
}

/** The header, or what is wrong with it in words. */
export function decodeSegmentHeader(bytes: Buffer): SegmentHeader | string {
  if (bytes.length < segmentHeaderBytes) return 'the segment is shorter than its header';
  if (!bytes.subarray(0, magic.length).equals(magic)) return 'this is no log segment';
  if (bytes.readUInt32BE(headerCrcOffset) !== crc32(bytes.subarray(0, headerCrcOffset)))
    return 'the segment header is damaged';
  const version = bytes.readUInt32BE(8);
  if (version !== formatVersion)
    return `the segment has format version ${version}, and this program reads ${formatVersion}`;
  if (bytes.readUInt32BE(12) !== shard)
    return `the segment has shard ${bytes.readUInt32BE(12)}; this release reads shard ${shard}`;
  return {
    firstSequence: Number(bytes.readBigUInt64BE(16)),
    previousCrc: bytes.readUInt32BE(24),
  };
}

/** Sixteen digits hold every sequence number a double holds exactly. */
export function segmentFileName(firstSequence: number): string {
  return `${String(firstSequence).padStart(16, '0')}.log`;
}

/** A segment under construction: it becomes one by its rename, header written and synced. */
export function temporaryFileName(name: string): string {
  return `${name}.new`;
}

/** Name of the copy of what recovery cuts off a segment. The CRC keeps two different tails of one name apart. */
export function removedTailFileName(segment: string, offset: number, crc: number): string {
  return `${segment}.from-${offset}.${crc.toString(16).padStart(8, '0')}`;
}

/** Whether `name` is the copy of a tail that recovery cut off this segment. */
export function isRemovedTailOf(segment: string, name: string): boolean {
  return name.startsWith(`${segment}.from-`);
}

/** A segment, or the copy of a cut tail, whose writing was interrupted. */
export function isTemporaryFile(name: string): boolean {
  return /^\d{16}\.log(\.from-\d+\.[0-9a-f]{8})?\.new$/.test(name);
}

/** First sequences of the segments among `names`, ascending; other files are not the log's. */
export function segmentFirstSequences(names: readonly string[]): number[] {
  return names
    .filter((name) => /^\d{16}\.log$/.test(name))
    .map((name) => Number.parseInt(name, 10))
    .sort((a, b) => a - b);
}

const chainFieldsScratch = Buffer.alloc(chainFieldsBytes);

/** The CRC of a frame whose payload lies at `bytes[start, end)`. */
export function frameCrc(sequence: number, previousCrc: number, payload: Uint8Array): number {
  writeChainFields(chainFieldsScratch, 0, sequence, previousCrc);
  return crc32(payload, crc32(chainFieldsScratch));
}

/** A marked frame, and its CRC, which the next one names. For those who write seldom: the log lays its frames out in place. */
export function encodeMarkedFrame(
  payload: Uint8Array,
  sequence: number,
  previousCrc: number,
): { readonly bytes: Buffer; readonly crc: number } {
  const crc = frameCrc(sequence, previousCrc, payload);
  const bytes = Buffer.alloc(frameHeaderBytes + chainFieldsBytes + payload.length);
  bytes.writeUInt32BE(syncMarkBit + payload.length, 0);
  bytes.writeUInt32BE(crc, 4);
  writeChainFields(bytes, frameHeaderBytes, sequence, previousCrc);
  bytes.set(payload, frameHeaderBytes + chainFieldsBytes);
  return { bytes, crc };
}

/** What a marked frame writes down of its place in the chain: sequence u64, previous CRC u32. */
export function writeChainFields(target: Buffer, at: number, sequence: number, previousCrc: number): void {
  target.writeUInt32BE(Math.floor(sequence / 2 ** 32), at);
  target.writeUInt32BE(sequence >>> 0, at + 4);
  target.writeUInt32BE(previousCrc, at + 8);
}

export function readSequence(bytes: Buffer, at: number): number {
  return bytes.readUInt32BE(at) * 2 ** 32 + bytes.readUInt32BE(at + 4);
}

/**
 * Decodes payloads of a log. What a file holds is not trusted: sizes are bounded before anything is allocated for them,
 * and a record is an array of scalars, bytes, and arrays of those, so that nobody walks a deep one.
 */
export class RecordDecoder {
  readonly #decoder = new Decoder({
    maxStrLength: bounds.logRecordBytesMax,
    maxBinLength: bounds.logRecordBytesMax,
    maxArrayLength: bounds.logRecordItemsMax,
    maxMapLength: 0,
    maxExtLength: 0,
    keyDecoder: null,
  });

  /** Bytes within the record are views of `payload`. Throws an error in words for anything that is no record. */
  decode(payload: Uint8Array): unknown[] {
    const record = this.#decoder.decode(payload);
    if (!Array.isArray(record)) throw new Error('a record must be an array');
    for (const item of record) {
      if (Array.isArray(item) ? !item.every(isScalar) : !isScalar(item))
        throw new Error('a record must not be nested deeper');
    }
    return record;
  }
}

function isScalar(item: unknown): boolean {
  return typeof item !== 'object' || item === null || item instanceof Uint8Array;
}
