import { basename, dirname, join } from 'node:path';
import { createFolderDurably, fsyncPath, tryLink } from '../files/durable-files.ts';
import { nodeFileSystem } from './log-files.ts';
import { parseSegmentFileNames, segmentFileName, segmentHeaderLength } from './log-format.ts';
import { type LogLocation, openSegmentFile } from './log-scanner.ts';
import { copySegmentRange, writeEmptySegment } from './segment-files.ts';
import { withSegmentReader } from './segment-reader.ts';
import { type LogVerification, type VerifyLogOptions, verifyLog } from './verify-log.ts';

export interface CopyLogOptions extends Pick<VerifyLogOptions, 'onBytesRead' | 'signal'> {
  /** Folder of an earlier copy of the log, which may be missing. Its complete segments are linked instead of copied. */
  readonly base?: string | undefined;
}

/** `copyLog` reads each copied byte twice: to copy the log, and to verify the copy. */
export const readsPerCopy = 2;

/**
 * Copies a log, which may be in use. The copy contains the records that exist when the copy starts. Bytes before the end of a complete
 * record never change, but later bytes may be written during the copy. The copy is durable and has an end mark.
 *
 * Verifies the checksums of the copied segments. A segment of `base` is linked if it has the size and the header of the segment in the log,
 * and the header of the next segment is also the same: this header has the checksum of the last record, which depends on all records before.
 *
 * Returns the verification of the whole copy.
 *
 * @throws LogDamagedError if the end of the log or a segment that is not linked is damaged
 * @throws LogRewrittenError if the writer moved or deleted records during the copy; the caller must then repeat the copy
 */
export async function copyLog(folder: string, target: string, options: CopyLogOptions = {}): Promise<LogVerification> {
  const { signal } = options;
  const newest = parseSegmentFileNames(nodeFileSystem.listFiles(folder)).at(-1);
  const { position, crc, end, damage } = await verifyLog(nodeFileSystem, folder, { signal, fromSegment: newest });
  if (damage !== null) throw damage;
  createFolderDurably(target);
  const copiedFrom = end === null ? undefined : await copySegments(folder, target, end, options);
  // With the end mark, recovery can detect that the last record of the copy is missing or damaged.
  if (end !== null && end.offset > segmentHeaderLength) {
    writeEmptySegment(target, { firstSequence: position + 1, previousCrc: crc });
  }
  fsyncPath(target);
  fsyncPath(dirname(target));
  const copiedSegments = { fromSegment: copiedFrom, decode: false };
  const copied = await verifyLog(nodeFileSystem, target, { ...options, ...copiedSegments });
  if (copied.damage !== null) {
    const { damage: original } = await verifyLog(nodeFileSystem, folder, { signal, ...copiedSegments });
    throw original ?? copied.damage;
  }
  const [first = position + 1] = parseSegmentFileNames(nodeFileSystem.listFiles(target));
  return { ...copied, records: position + 1 - first };
}

/** Copies or links the segments of a log up to a location. Returns the first segment that was copied. */
async function copySegments(folder: string, target: string, end: LogLocation, options: CopyLogOptions) {
  const { base, onBytesRead, signal } = options;
  const last = basename(end.file);
  const firsts = parseSegmentFileNames(nodeFileSystem.listFiles(folder));
  let copiedFrom: number | undefined;
  for (const [index, first] of firsts.entries()) {
    const name = segmentFileName(first);
    // Segments with greater names contain only later records, because file names ascend with record positions.
    if (name > last) break;
    const segment = openSegmentFile(nodeFileSystem, folder, first);
    try {
      const isComplete = base !== undefined && name !== last && isSameSegment(folder, base, first, firsts[index + 1]!);
      if (isComplete && tryLink(join(base, name), join(target, name))) {
        onBytesRead?.(readsPerCopy * segment.size());
        continue;
      }
      copiedFrom ??= first;
      const bytes = name === last ? end.offset : Number.POSITIVE_INFINITY;
      await copySegmentRange(nodeFileSystem, segment, 0, bytes, join(target, name), (copied) => {
        onBytesRead?.(copied);
        signal?.throwIfAborted();
      });
    } finally {
      segment.close();
    }
  }
  return copiedFrom;
}

/**
 * Whether a segment has the same records in two logs.
 *
 * @param first first sequence number of the segment
 * @param next first sequence number of the following segment, whose header has the CRC of the last record of the segment
 */
function isSameSegment(folder: string, base: string, first: number, next: number): boolean {
  const describe = (log: string): string => {
    const read = (position: number) =>
      withSegmentReader(nodeFileSystem, join(log, segmentFileName(position)), (segment) => ({
        size: segment.size(),
        header: segment.readHeader(),
      }));
    return JSON.stringify([read(first), read(next).header]);
  };
  try {
    return describe(folder) === describe(base);
  } catch {
    return false;
  }
}
