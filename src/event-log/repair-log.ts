import { basename, join } from 'node:path';
import type { LogFiles } from './log-files.ts';
import {
  frameHeaderBytes,
  RecordDecoder,
  readSequence,
  segmentFileName,
  segmentFirstSequences,
  sequenceFieldsBytes,
} from './log-format.ts';
import type { LogLocation } from './log-scanner.ts';
import { copySegmentRange } from './segment-files.ts';
import { LogDamagedError, SegmentReader, withSegment } from './segment-reader.ts';
import type { LogVerification } from './verify-log.ts';

/** Effect of truncating a log after its last complete record. */
export interface RepairPlan {
  readonly folder: string;
  /** Position and CRC of the last remaining record; both are 0 if no record remains. */
  readonly position: number;
  readonly crc: number;
  /** New end of the log, at which its last segment is truncated. Null if no segment remains. */
  readonly end: LogLocation | null;
  /** Number of bytes removed after `end` from the last segment. */
  readonly removedBytes: number;
  /** Paths of the segments after the last remaining segment, oldest first. */
  readonly laterSegments: readonly string[];
}

type CutValidation =
  | { readonly kind: 'damage'; readonly plan: RepairPlan }
  /** The log is undamaged and ends at the location, because it was truncated there before. */
  | { readonly kind: 'done' }
  | { readonly kind: 'no-damage' }
  | { readonly kind: 'elsewhere'; readonly damage: LogDamagedError };

/**
 * Checks whether a log may be truncated at a location. This is allowed only at the first damage. If a record is missing at the end of a
 * segment, the start of the next segment is the same location.
 */
export function validateCut(files: LogFiles, check: LogVerification, cut: LogLocation): CutValidation {
  const { folder, damage, end, position, crc } = check;
  const isEnd = cut.file === end?.file && cut.offset === end.offset;
  const next = join(folder, segmentFileName(position + 1));
  const isNext = cut.offset === 0 && (end === null ? damage === null : cut.file === next);
  if (damage === null) return { kind: isEnd || isNext ? 'done' : 'no-damage' };
  if (!isNext && !isEnd && !(cut.file === damage.file && cut.offset === damage.offset)) {
    return { kind: 'elsewhere', damage };
  }
  const removedBytes = end === null ? 0 : withSegment(files, end.file, (segment) => segment.size()) - end.offset;
  const laterSegments = segmentFirstSequences(files.listNames(folder))
    .map((first) => join(folder, segmentFileName(first)))
    .filter((path) => end === null || path > end.file);
  return { kind: 'damage', plan: { folder, position, crc, end, removedBytes, laterSegments } };
}

/**
 * Truncates a damaged log so that it can be opened again. Moves the later segments to another folder of the same file system. Copies the
 * removed bytes to the file `<segment name>.from-<byte>` in that folder.
 *
 * An interrupted repair loses no bytes and can be repeated with another folder: bytes are copied before they are removed, and the newest
 * segments are moved first, so that the log remains damaged at the same location until the end.
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

interface RecordsAfterCut {
  /** Number of readable records after the truncation. */
  readonly records: number;
  /** Position of the last record that existed, known from that record or from the name of a later segment. */
  readonly position: number;
}

/** Counts the readable records after a truncation, segment by segment. After unreadable bytes, continues at the next marked frame. */
export function countRecordsAfterCut(
  files: LogFiles,
  { position, crc, end, laterSegments }: RepairPlan,
  onRecord: (record: readonly unknown[]) => void = () => {},
): RecordsAfterCut {
  const decoder = new RecordDecoder();
  const found = { records: 0, position };
  const take = (segment: SegmentReader, at: number): void => {
    found.records++;
    found.position = at;
    try {
      onRecord(decoder.decode(segment.payload));
    } catch {
      // The frame is valid, so the record counts, even though it cannot be decoded and may be the reason for the truncation.
    }
  };
  if (end !== null) {
    const until = firstSequenceOf(laterSegments[0]);
    withSegment(files, end.file, (segment) => {
      segment.offset = end.offset;
      readRemainingFrames(segment, position + 1, crc, until, take);
    });
  }
  for (const [index, path] of laterSegments.entries()) {
    found.position = Math.max(found.position, firstSequenceOf(path) - 1);
    const until = firstSequenceOf(laterSegments[index + 1]);
    withSegment(files, path, (segment) => {
      const previousCrc = readPreviousCrc(segment);
      // If the header is invalid, reading starts at the first marked frame.
      if (previousCrc === null) readRemainingFrames(segment, firstSequenceOf(path) - 1, 0, until, take);
      else readRemainingFrames(segment, firstSequenceOf(path), previousCrc, until, take);
    });
  }
  return found;
}

/** Visits the readable records of a segment that are before sequence `until`. */
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
    const { markOffset } = segment.examineTail(sequence);
    if (markOffset === null) return;
    const chain = segment.readBytes(markOffset + frameHeaderBytes, sequenceFieldsBytes);
    sequence = readSequence(chain, 0);
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

/** Returns the first sequence of a segment; infinity without a segment. */
function firstSequenceOf(path: string | undefined): number {
  return path === undefined ? Number.POSITIVE_INFINITY : Number.parseInt(basename(path), 10);
}
