import { crc32 } from 'node:zlib';
import { Decoder } from '@msgpack/msgpack';
import { bounds } from '../bounds.ts';

/**
 * File format of a log. All numbers are big-endian.
 *
 * A log is a folder of segments. Each segment is named after the sequence number of its first record, zero-padded so that names sort like
 * numbers. A segment consists of a header and frames. `shard` is always 0.
 *
 *     header  magic 8 | format version u32 | shard u32 | first sequence u64 | previous CRC u32 | CRC-32 of these 28 u32
 *     frame   length u32 | CRC u32 | payload
 *     frame   length u32 with the sync mark | CRC u32 | sequence u64 | previous CRC u32 | payload
 *
 * `length` is the length of the payload. The CRC-32 of a frame is computed over the record's sequence number, the CRC of the previous
 * frame, and the payload. The CRCs of all frames form a chain, which reveals lost, repeated and swapped frames, and frames that remain from
 * an earlier use of the file. The header of a segment contains the CRC of the record that precedes the segment. For the first record of a
 * log, the previous CRC is 0.
 *
 * The highest bit of `length` is the sync mark. A frame gets a sync mark if all earlier frames were synced to the disk before this frame
 * was written. A frame with a sync mark contains its sequence number and the previous CRC, so that a reader can verify the frame without
 * the earlier frames. An invalid frame in the last segment is damage if a later frame has a sync mark. If no later frame has a sync mark, a
 * crash interrupted the last write. The bytes of a write that a crash interrupted are called the torn tail. With durability `fsync`, no
 * record in the torn tail was reported as durable.
 *
 * If a write or sync of a segment fails, the log abandons the segment, and writes the frames that may be missing on the disk to a new
 * segment. If both segments contain a record, the record is read only from the new segment. If both segments start with the
 * same record, both have the same file name, and the new segment replaces the abandoned segment.
 *
 * A closed log ends with an end mark, which is a segment without frames. The header of the end mark contains the CRC of the last record, so
 * that recovery can detect that the last record is missing or damaged. The next segment has the same file name as the end mark and replaces
 * the end mark.
 */
export const segmentHeaderLength = 32;
export const frameHeaderLength = 8;
export const sequenceFieldsLength = 12;
export const sequenceFieldsFlag = 0x8000_0000;

const magic = Buffer.from('svc-log\n', 'latin1');
const formatVersion = 1;
const headerCrcOffset = 28;

const shard = 0;

export interface SegmentHeader {
  readonly firstSequence: number;
  readonly previousCrc: number;
}

export function encodeSegmentHeader(header: SegmentHeader): Buffer {
  const bytes = Buffer.alloc(segmentHeaderLength);
  magic.copy(bytes);
  bytes.writeUInt32BE(formatVersion, 8);
  bytes.writeUInt32BE(shard, 12);
  bytes.writeBigUInt64BE(BigInt(header.firstSequence), 16);
  bytes.writeUInt32BE(header.previousCrc, 24);
  bytes.writeUInt32BE(crc32(bytes.subarray(0, headerCrcOffset)), headerCrcOffset);
  return bytes;
}

/** Decodes a segment header. Returns an error message if the header is invalid. */
export function decodeSegmentHeader(bytes: Buffer): SegmentHeader | string {
  if (bytes.length < segmentHeaderLength) return 'the segment is shorter than its header';
  if (!bytes.subarray(0, magic.length).equals(magic)) return 'not a log segment';
  if (bytes.readUInt32BE(headerCrcOffset) !== crc32(bytes.subarray(0, headerCrcOffset)))
    return 'the segment header is damaged';
  const version = bytes.readUInt32BE(8);
  if (version !== formatVersion)
    return `the segment has format version ${version}; this release reads version ${formatVersion}`;
  if (bytes.readUInt32BE(12) !== shard)
    return `the segment has shard ${bytes.readUInt32BE(12)}; this release reads shard ${shard}`;
  return {
    firstSequence: Number(bytes.readBigUInt64BE(16)),
    previousCrc: bytes.readUInt32BE(24),
  };
}

/** Returns the file name of a segment, which contains the sequence number with as many digits as `Number.MAX_SAFE_INTEGER` has. */
export function segmentFileName(firstSequence: number): string {
  return `${String(firstSequence).padStart(16, '0')}.log`;
}

/** Returns the name of an unfinished file, which is renamed to `name` once its content is synced. */
export function temporaryFileName(name: string): string {
  return `${name}.new`;
}

/**
 * Returns the file name for a copy of the bytes that recovery removes from the end of a segment. The file name contains the CRC of the
 * removed bytes, so that different bytes from the same offset get different file names.
 */
export function formatTornBytesFileName(segment: string, offset: number, crc: number): string {
  return `${segment}.from-${offset}.${crc.toString(16).padStart(8, '0')}`;
}

/** Whether the file `name` contains bytes that recovery removed from the end of a segment. */
export function isTornBytesFileName(segment: string, name: string): boolean {
  return name.startsWith(`${segment}.from-`);
}

/** Whether `name` is the temporary name of an unfinished file: a segment, or a copy of removed bytes. */
export function isTemporaryFileName(name: string): boolean {
  return /^\d{16}\.log(\.from-\d+\.[0-9a-f]{8})?\.new$/.test(name);
}

/**
 * Returns the first sequence number of each segment in a list of file names, in ascending order. Skips names of files that are not
 * segments.
 */
export function parseSegmentFileNames(names: readonly string[]): number[] {
  return names
    .filter((name) => /^\d{16}\.log$/.test(name))
    .map((name) => Number.parseInt(name, 10))
    .sort((a, b) => a - b);
}

const sequenceFieldsScratch = Buffer.alloc(sequenceFieldsLength);

export function computeFrameCrc(sequence: number, previousCrc: number, payload: Uint8Array): number {
  writeSequenceFields(sequenceFieldsScratch, 0, sequence, previousCrc);
  return crc32(payload, crc32(sequenceFieldsScratch));
}

/** Writes the two fields that only a frame with a sync mark contains: sequence number (u64) and previous CRC (u32). */
export function writeSequenceFields(target: Buffer, offset: number, sequence: number, previousCrc: number): void {
  target.writeUInt32BE(Math.floor(sequence / 2 ** 32), offset);
  target.writeUInt32BE(sequence >>> 0, offset + 4);
  target.writeUInt32BE(previousCrc, offset + 8);
}

export function readSequenceNumber(bytes: Buffer, offset: number): number {
  return bytes.readUInt32BE(offset) * 2 ** 32 + bytes.readUInt32BE(offset + 4);
}

/**
 * Decodes the payloads of log records. Sizes are checked before memory is allocated, because a damaged file may contain any bytes. A record
 * is an array of scalars, byte arrays, and arrays of scalars and byte arrays.
 */
export class RecordDecoder {
  readonly #decoder: Decoder;

  constructor(itemsMax: number = bounds.logRecordItemsMax) {
    this.#decoder = new Decoder({
      maxStrLength: bounds.logRecordBytesMax,
      maxBinLength: bounds.logRecordBytesMax,
      maxArrayLength: itemsMax,
      maxMapLength: 0,
      maxExtLength: 0,
      keyDecoder: null,
    });
  }

  /** Decodes a payload. Byte arrays in the record share the memory of `payload`. Throws an `Error` if the payload is not a record. */
  decodeRecord(payload: Uint8Array): unknown[] {
    const record = this.#decoder.decode(payload);
    if (!Array.isArray(record)) throw new Error('a record must be an array');
    for (const item of record) {
      if (Array.isArray(item) ? !item.every(isScalar) : !isScalar(item))
        throw new Error('a record may contain only scalars and arrays of scalars');
    }
    return record;
  }
}

function isScalar(item: unknown): boolean {
  return typeof item !== 'object' || item === null || item instanceof Uint8Array;
}
