import { basename, dirname, join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { bounds } from '../bounds.ts';
import { createFolderDurably, fsyncPath } from '../files/durable-files.ts';
import { type LogFiles, nodeFileSystem } from './log-files.ts';
import { parseSegmentFileNames, segmentFileName, segmentHeaderLength } from './log-format.ts';
import { type LogLocation, LogScanner, openSegmentFile } from './log-scanner.ts';
import { copySegmentRange, writeSegment } from './segment-files.ts';
import { LogDamagedError, withSegmentReader } from './segment-reader.ts';

/** Result of verifying a log. In a damaged log, `segments` and `bytes` count the whole log; all other counts stop at the first damage. */
export interface LogVerification {
  readonly folder: string;
  readonly segments: number;
  /** Size of all segments in bytes, including preallocated zeros. */
  readonly bytes: number;
  readonly records: number;
  /** Position of the last record, which is greater than `records` if old segments were deleted. */
  readonly position: number;
  readonly crc: number;
  /** End of the last record; null if no segment has a valid header. */
  readonly end: LogLocation | null;
  /** Size in bytes of an incomplete record after `end`, which is still being written or will be removed by recovery. */
  readonly tornBytes: number;
  /** First damage, or null. The log can still be opened if the damage is in an old segment that recovery skips. */
  readonly damage: LogDamagedError | null;
}

export interface VerifyLogOptions {
  readonly onRecord?: (position: number, record: readonly unknown[]) => void;
  /** Called after each record with the number of bytes read since the previous call. */
  readonly onBytesRead?: (bytes: number) => void;
  readonly signal?: AbortSignal;
  /** First segment to verify, named by the position of its first record; by default, the first segment of the log. */
  readonly fromSegment?: number;
}

/** Returns the size of a log's segments in bytes, starting with segment `fromSegment`. The log may be in use. */
export function logSizeBytes(files: LogFiles, folder: string, fromSegment = 0): number {
  const firsts = parseSegmentFileNames(files.listFiles(folder)).filter((first) => first >= fromSegment);
  return firsts.reduce((sum, first) => sum + segmentSizeBytes(files, folder, first), 0);
}

function segmentSizeBytes(files: LogFiles, folder: string, first: number): number {
  try {
    return withSegmentReader(files, join(folder, segmentFileName(first)), (segment) => segment.size());
  } catch (error) {
    // Error ENOENT means that the segment was deleted after the folder was listed.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 0;
    throw error;
  }
}

/**
 * Verifies every record of a log and the chain of CRCs. Does not modify the log. The log may be in use. Yields to the event loop between
 * chunks.
 *
 * @throws LogRewrittenError if the writer moved or deleted records during the check; the caller must then verify the log again
 */
export async function verifyLog(
  files: LogFiles,
  folder: string,
  { onRecord, onBytesRead, signal, fromSegment }: VerifyLogOptions = {},
): Promise<LogVerification> {
  const scanner = new LogScanner(files, folder, { segment: fromSegment, decode: true });
  let records = 0;
  let end: LogLocation | null = null;
  let damage: LogDamagedError | null = null;
  let yieldAt: number = bounds.logReadChunkBytes;
  try {
    let reported = 0;
    const report = (): void => {
      onBytesRead?.(scanner.bytesRead - reported);
      reported = scanner.bytesRead;
    };
    while (scanner.nextRecord()) {
      records++;
      onRecord?.(scanner.position, scanner.record);
      report();
      if (scanner.bytesRead < yieldAt) continue;
      yieldAt = scanner.bytesRead + bounds.logReadChunkBytes;
      await nextTurn();
      signal?.throwIfAborted();
    }
    // Reports the bytes of the end mark, a segment without records at the end of a closed log.
    report();
  } catch (error) {
    if (!(error instanceof LogDamagedError)) throw error;
    damage = error;
  } finally {
    end = scanner.end;
    scanner.close();
  }
  const { position, crc, tornBytes } = scanner;
  const segments = parseSegmentFileNames(files.listFiles(folder)).length;
  return { folder, segments, bytes: logSizeBytes(files, folder), records, position, crc, end, tornBytes, damage };
}

/** `copyLog` reads each byte three times: to verify the log, to copy the log, and to verify the copy. */
export const readsPerCopy = 3;

/**
 * Copies a log, which may be in use. The copy contains the records that exist when the copy starts. Bytes before the end of a complete
 * record never change, but later bytes may be written during the copy. The copy is durable, has an end mark, and is verified. Returns the
 * result of verifying the copy.
 *
 * @throws LogDamagedError if the log or its copy cannot be read to the end
 * @throws LogRewrittenError if the writer moved or deleted records during the copy; the caller must then repeat the copy
 */
export async function copyLog(
  folder: string,
  target: string,
  options: Pick<VerifyLogOptions, 'onBytesRead' | 'signal'> = {},
): Promise<LogVerification> {
  const { position, crc, end, damage } = await verifyLog(nodeFileSystem, folder, options);
  if (damage !== null) throw damage;
  const { onBytesRead, signal } = options;
  createFolderDurably(target);
  if (end !== null) {
    const last = basename(end.file);
    for (const first of parseSegmentFileNames(nodeFileSystem.listFiles(folder))) {
      const name = segmentFileName(first);
      // Segments with greater names contain only later records, because file names ascend with record positions.
      if (name > last) break;
      const bytes = name === last ? end.offset : Number.POSITIVE_INFINITY;
      const segment = openSegmentFile(nodeFileSystem, folder, first);
      try {
        await copySegmentRange(nodeFileSystem, segment, 0, bytes, join(target, name), (copied) => {
          onBytesRead?.(copied);
          signal?.throwIfAborted();
        });
      } finally {
        segment.close();
      }
    }
    // With the end mark, recovery can detect that the last record of the copy is missing or damaged.
    if (end.offset > segmentHeaderLength) {
      writeSegment(target, { firstSequence: position + 1, previousCrc: crc }, []);
    }
  }
  fsyncPath(dirname(target));
  const copied = await verifyLog(nodeFileSystem, target, options);
  if (copied.damage !== null) throw copied.damage;
  return copied;
}
