import { basename, join } from 'node:path';
import type { LogFiles } from './log-files.ts';
import {
  frameHeaderLength,
  parseSegmentFileNames,
  RecordDecoder,
  readSequenceNumber,
  segmentFileName,
  sequenceFieldsLength,
} from './log-format.ts';
import type { LogLocation } from './log-scanner.ts';
import { copySegmentRange } from './segment-files.ts';
import { LogDamagedError, SegmentReader, withSegmentReader } from './segment-reader.ts';
import type { LogVerification } from './verify-log.ts';

/** Repair plan: truncation of a damaged log after the last complete record before the damage. */
export interface RepairPlan {
  readonly folder: string;
  /** Position and CRC of the last record that the repair keeps; both are 0 if the repair keeps no record. */
  readonly position: number;
  readonly crc: number;
  /** New end of the log: the last remaining segment, and the offset at which it is truncated. Null if the repair removes all segments. */
  readonly end: LogLocation | null;
  /** Number of bytes that are removed after `end` from the last remaining segment. */
  readonly removedBytes: number;
  /** Paths of the segments that the repair removes: all segments after the last remaining segment, oldest first. */
  readonly laterSegments: readonly string[];
}

type TruncationValidation =
  | { readonly kind: 'damage'; readonly plan: RepairPlan }
  /** No repair is necessary, because the log is undamaged and already ends at the requested location. */
  | { readonly kind: 'done' }
  | { readonly kind: 'no-damage' }
  | { readonly kind: 'elsewhere'; readonly damage: LogDamagedError };

/**
 * Checks the location at which an operator wants to truncate a log. An operator can truncate a damaged log at the first damage, at the end
 * of the last complete record before the damage, or at the start of the segment that follows this record.
 */
export function validateTruncation(files: LogFiles, check: LogVerification, cut: LogLocation): TruncationValidation {
  const { folder, damage, end, position, crc } = check;
  const isEnd = cut.file === end?.file && cut.offset === end.offset;
  const next = join(folder, segmentFileName(position + 1));
  const isNext = cut.offset === 0 && (end === null ? damage === null : cut.file === next);
  if (damage === null) return { kind: isEnd || isNext ? 'done' : 'no-damage' };
  if (!isNext && !isEnd && !(cut.file === damage.file && cut.offset === damage.offset)) {
    return { kind: 'elsewhere', damage };
  }
  const removedBytes = end === null ? 0 : withSegmentReader(files, end.file, (segment) => segment.size()) - end.offset;
  const laterSegments = parseSegmentFileNames(files.listFiles(folder))
    .map((first) => join(folder, segmentFileName(first)))
    .filter((path) => end === null || path > end.file);
  return { kind: 'damage', plan: { folder, position, crc, end, removedBytes, laterSegments } };
}

/**
 * Truncates a damaged log so that it can be opened again. Moves all segments after the new end of the log to `removedFolder`, which must be
 * in the same file system. Copies the bytes that are removed from the last remaining segment to the file `<segment name>.from-<byte>` in
 * `removedFolder`.
 *
 * An interrupted repair loses no bytes, because bytes are copied before they are removed, and can be repeated with another `removedFolder`.
 * Segments are moved to `removedFolder` from newest to oldest, so that a repeated repair finds the damage at the same location.
 */
export async function repairLog(files: LogFiles, plan: RepairPlan, removedFolder: string): Promise<void> {
  files.createFolder(removedFolder);
  const { folder, end, removedBytes, laterSegments } = plan;
  if (end !== null && removedBytes > 0) {
    const copyFile = join(removedFolder, `${basename(end.file)}.from-${end.offset}`);
    const segment = new SegmentReader(files, end.file);
    try {
      await copySegmentRange(files, segment, end.offset, segment.size(), copyFile);
    } finally {
      segment.close();
    }
    const file = await files.openForWriting(end.file);
    try {
      await file.truncate(end.offset);
      await file.datasync();
    } finally {
      await file.close();
    }
  }
  for (const path of laterSegments.toReversed()) await files.rename(path, join(removedFolder, basename(path)));
  await files.syncFolder(removedFolder);
  await files.syncFolder(folder);
}

interface TruncatedRecords {
  /** Number of readable records that the truncation removes. */
  readonly records: number;
  /** Highest record position that is found in the readable records and the segment names before the truncation. */
  readonly position: number;
}

/**
 * Counts the readable records that a truncation removes, segment by segment. Skips unreadable bytes up to the next frame with a sync mark
 * (see log-format.ts).
 */
export function countTruncatedRecords(
  files: LogFiles,
  { position, crc, end, laterSegments }: RepairPlan,
  onRecord: (record: readonly unknown[]) => void = () => {},
): TruncatedRecords {
  const decoder = new RecordDecoder();
  const found = { records: 0, position };
  const take = (segment: SegmentReader, at: number): void => {
    found.records++;
    found.position = at;
    try {
      onRecord(decoder.decodeRecord(segment.payload));
    } catch {
      // A record with a valid CRC is counted even if it cannot be decoded, because the truncation also removes this record.
    }
  };
  if (end !== null) {
    const until = firstSequenceOf(laterSegments[0]);
    withSegmentReader(files, end.file, (segment) => {
      segment.offset = end.offset;
      readRemainingFrames(segment, position + 1, crc, until, take);
    });
  }
  for (const [index, path] of laterSegments.entries()) {
    found.position = Math.max(found.position, firstSequenceOf(path) - 1);
    const until = firstSequenceOf(laterSegments[index + 1]);
    withSegmentReader(files, path, (segment) => {
      const previousCrc = readPreviousCrc(segment);
      // If the segment header is invalid, reading starts at the first frame with a sync mark, which can be verified without the header.
      if (previousCrc === null) readRemainingFrames(segment, firstSequenceOf(path) - 1, 0, until, take);
      else readRemainingFrames(segment, firstSequenceOf(path), previousCrc, until, take);
    });
  }
  return found;
}

function readRemainingFrames(
  segment: SegmentReader,
  first: number,
  previousCrc: number,
  until: number,
  take: (segment: SegmentReader, position: number) => void,
): void {
  let sequence = first;
  let crc = previousCrc;
  while (sequence < until) {
    if (segment.readFrame(sequence, crc)) {
      take(segment, sequence);
      sequence++;
      crc = segment.crc;
      continue;
    }
    const { markOffset } = segment.inspectSegmentTail(sequence);
    if (markOffset === null) return;
    const chain = segment.readBytes(markOffset + frameHeaderLength, sequenceFieldsLength);
    sequence = readSequenceNumber(chain, 0);
    crc = chain.readUInt32BE(8);
    segment.offset = markOffset;
  }
}

function readPreviousCrc(segment: SegmentReader): number | null {
  try {
    return segment.readHeader().previousCrc;
  } catch (error) {
    if (error instanceof LogDamagedError) return null;
    throw error;
  }
}

/** Returns the first sequence number of a segment, or infinity if `path` is undefined. */
function firstSequenceOf(path: string | undefined): number {
  return path === undefined ? Number.POSITIVE_INFINITY : Number.parseInt(basename(path), 10);
}
