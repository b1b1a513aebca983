import { basename, dirname, join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { bounds } from '../bounds.ts';
import { createFolderDurably, fsyncPath } from '../files/durable-files.ts';
import { type LogFiles, nodeLogFiles } from './log-files.ts';
import { segmentFileName, segmentFirstSequences, segmentHeaderBytes } from './log-format.ts';
import { type LogLocation, LogScanner, openSegment } from './log-scanner.ts';
import { copySegmentRange, writeSegment } from './segment-files.ts';
import { LogDamagedError, withSegment } from './segment-reader.ts';

/** Result of verifying a log. All members except `segments` and `bytes` describe the records before the first damage. */
export interface LogVerification {
  readonly folder: string;
  readonly segments: number;
  /** Size of all segments in bytes, including preallocated zeros. */
  readonly bytes: number;
  readonly records: number;
  /** Position of the last record. Greater than `records` if old segments were deleted. */
  readonly position: number;
  readonly crc: number;
  /** End of the last record; null if no segment has a valid header. */
  readonly end: LogLocation | null;
  /** Number of bytes after `end`: a write in progress, or a torn tail, which is removed when the log is opened. */
  readonly tornBytes: number;
  /** First damage, or null. A damaged log cannot be opened if it is read from its start. */
  readonly damage: LogDamagedError | null;
}

export interface VerifyLogOptions {
  readonly onRecord?: (position: number, record: readonly unknown[]) => void;
  /** Called after each record with the number of bytes read since the previous call. */
  readonly onBytesRead?: (bytes: number) => void;
  readonly signal?: AbortSignal;
}

/** Returns the size in bytes of a log's segments, optionally only from one segment on. The log may be in use. */
export function logSizeBytes(files: LogFiles, folder: string, fromSegment = 0): number {
  const firsts = segmentFirstSequences(files.listNames(folder)).filter((first) => first >= fromSegment);
  return firsts.reduce((sum, first) => sum + segmentSizeBytes(files, folder, first), 0);
}

function segmentSizeBytes(files: LogFiles, folder: string, first: number): number {
  try {
    return withSegment(files, join(folder, segmentFileName(first)), (segment) => segment.size());
  } catch (error) {
    // Error ENOENT means that the segment was deleted after the folder was listed.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 0;
    throw error;
  }
}

/**
 * Verifies every record of a log and its place in the chain of CRCs, as opening the log does, but changes nothing. The log may be in use.
 * Yields to the event loop between chunks.
 *
 * @throws LogRewrittenError if the writer moved or deleted records during the check; verify the log again then
 */
export async function verifyLog(
  files: LogFiles,
  folder: string,
  { onRecord, onBytesRead, signal }: VerifyLogOptions = {},
): Promise<LogVerification> {
  const scanner = new LogScanner(files, folder, { decode: true });
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
    // An end mark has a header but no record.
    report();
  } catch (error) {
    if (!(error instanceof LogDamagedError)) throw error;
    damage = error;
  } finally {
    end = scanner.end;
    scanner.close();
  }
  const { position, crc, tornBytes } = scanner;
  const segments = segmentFirstSequences(files.listNames(folder)).length;
  return { folder, segments, bytes: logSizeBytes(files, folder), records, position, crc, end, tornBytes, damage };
}

/** Number of times that `copyLog` reads each byte: for the check of the log, for the copy, and for the check of the copy. */
export const copyReadPasses = 3;

/**
 * Copies a log, which may be in use, up to the record that is the last record when the copy starts. Bytes before the end of a complete
 * record never change; later bytes may be written during the copy. The copy is durable, has an end mark, and is checked. Returns the
 * result of this check.
 *
 * @throws LogDamagedError if the log or its copy cannot be read to the end
 * @throws LogRewrittenError if the writer moved or deleted records during the copy; the copy must then be repeated
 */
export async function copyLog(
  folder: string,
  target: string,
  options: Pick<VerifyLogOptions, 'onBytesRead' | 'signal'> = {},
): Promise<LogVerification> {
  const { position, crc, end, damage } = await verifyLog(nodeLogFiles, folder, options);
  if (damage !== null) throw damage;
  const { onBytesRead, signal } = options;
  createFolderDurably(target);
  if (end !== null) {
    const last = basename(end.file);
    for (const first of segmentFirstSequences(nodeLogFiles.listNames(folder))) {
      const name = segmentFileName(first);
      // File names ascend with record positions, so segments with greater names contain only later records.
      if (name > last) break;
      const bytes = name === last ? end.offset : Number.POSITIVE_INFINITY;
      const segment = openSegment(nodeLogFiles, folder, first);
      try {
        await copySegmentRange(nodeLogFiles, segment, 0, bytes, join(target, name), (copied) => {
          onBytesRead?.(copied);
          signal?.throwIfAborted();
        });
      } finally {
        segment.close();
      }
    }
    // With an end mark, a damaged last record is reported as damage.
    if (end.offset > segmentHeaderBytes) {
      writeSegment(target, { firstSequence: position + 1, previousCrc: crc }, []);
    }
  }
  fsyncPath(dirname(target));
  const copied = await verifyLog(nodeLogFiles, target, options);
  if (copied.damage !== null) throw copied.damage;
  return copied;
}
