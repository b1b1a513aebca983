import { basename, join } from 'node:path';
import type { LogFiles } from './log-files.ts';
import {
  chainFieldsBytes,
  frameHeaderBytes,
  RecordDecoder,
  readSequence,
  segmentFileName,
  segmentFirstSequences,
} from './log-format.ts';
import type { LogLocation } from './log-scanner.ts';
import { copySegmentRange } from './segment-files.ts';
import { LogDamagedError, SegmentReader } from './segment-reader.ts';
import type { LogVerification } from './verify-log.ts';

/** What cutting a log behind its last whole record would do. */
export interface RepairPlan {
  readonly folder: string;
  /** Position and CRC of the last record that stays; 0 when none does. */
  readonly position: number;
  readonly crc: number;
  /** The segment the log ends in afterwards, cut to `offset`; null when none stays. */
  readonly end: LogLocation | null;
  /** Bytes cut off there. */
  readonly removedBytes: number;
  /** Paths of the segments behind it, oldest first. */
  readonly laterSegments: readonly string[];
}

type CutValidation =
  | { readonly kind: 'damage'; readonly plan: RepairPlan }
  /** The log is whole and ends there: so it does after such a cut. */
  | { readonly kind: 'done' }
  | { readonly kind: 'no-damage' }
  | { readonly kind: 'elsewhere'; readonly damage: LogDamagedError };

/**
 * Whether a log, as it was just checked, may be cut at a place: only where its first damage is. Where a record is missing at
 * the end of one segment, the start of the next one is the same place.
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
  const removedBytes = end === null ? 0 : fileSizeBytes(files, end.file) - end.offset;
  const laterSegments = segmentFirstSequences(files.listNames(folder))
    .map((first) => join(folder, segmentFileName(first)))
    .filter((path) => end === null || path > end.file);
  return { kind: 'damage', plan: { folder, position, crc, end, removedBytes, laterSegments } };
}

/**
 * Cuts a damaged log so that it opens again, and moves what lay behind, unchanged, into another folder of the same file
 * system: whole segments under their names, and what is cut off the last one left as `<its name>.from-<byte>`.
 *
 * Nothing is lost whenever this is interrupted, and it can be done again, into another folder. The rest is safe in its copy
 * before it is cut off; and the segments go newest first, so that until the last of them is gone the log stays damaged at
 * the same place.
 */
export async function repairLog(files: LogFiles, plan: RepairPlan, removedFolder: string): Promise<void> {
  files.createFolder(removedFolder);
  const { folder, end, removedBytes, laterSegments } = plan;
  if (end !== null && removedBytes > 0) {
    const segment = new SegmentReader(files, end.file);
    try {
      const path = join(removedFolder, `${basename(end.file)}.from-${end.offset}`);
      await copySegmentRange(files, segment, end.offset, segment.size(), path);
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
  /** Records behind the cut that can still be read. */
  readonly records: number;
  /** Position of the last record that is known to have been there, by itself or by the name of a segment after it. */
  readonly position: number;
}

/** Counts what lies behind a cut, as far as it can be read: from one synced group to the next, segment by segment. */
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
      // It is whole, and was counted; that it cannot be decoded may be the very reason for the cut.
    }
  };
  if (end !== null) {
    const until = laterSegments[0] === undefined ? Number.POSITIVE_INFINITY : firstSequenceOf(laterSegments[0]);
    withSegment(files, end.file, (segment) => {
      segment.offset = end.offset;
      readRemainingFrames(segment, position + 1, crc, until, take);
    });
  }
  for (const [index, path] of laterSegments.entries()) {
    found.position = Math.max(found.position, firstSequenceOf(path) - 1);
    const next = laterSegments[index + 1];
    const until = next === undefined ? Number.POSITIVE_INFINITY : firstSequenceOf(next);
    withSegment(files, path, (segment) => {
      const previousCrc = readPreviousCrc(segment);
      // Without it, only from a group that says so itself; the first one is to be among those that are looked for.
      if (previousCrc === null) readRemainingFrames(segment, firstSequenceOf(path) - 1, 0, until, take);
      else readRemainingFrames(segment, firstSequenceOf(path), previousCrc, until, take);
    });
  }
  return found;
}

/** Reads every record of a segment that can be read, up to one that the next segment holds. */
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
    const chain = segment.readBytes(markOffset + frameHeaderBytes, chainFieldsBytes);
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

function withSegment(files: LogFiles, path: string, use: (segment: SegmentReader) => void): void {
  const segment = new SegmentReader(files, path);
  try {
    use(segment);
  } finally {
    segment.close();
  }
}

function fileSizeBytes(files: LogFiles, path: string): number {
  const file = files.openForReading(path);
  try {
    return file.size();
  } finally {
    file.close();
  }
}

function firstSequenceOf(path: string): number {
  return Number.parseInt(basename(path), 10);
}
