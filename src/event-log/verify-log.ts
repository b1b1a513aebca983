import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { bounds } from '../bounds.ts';
import type { LogFiles } from './log-files.ts';
import { parseSegmentFileNames, segmentFileName } from './log-format.ts';
import { type LogLocation, LogScanner } from './log-scanner.ts';
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
  readonly signal?: AbortSignal | undefined;
  /** First segment to verify, named by the position of its first record; by default, the first segment of the log. */
  readonly fromSegment?: number | undefined;
  /** Whether to decode each record; by default, true. Without decoding, the check takes a third of the time, and compares only checksums. */
  readonly decode?: boolean;
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
  { onRecord, onBytesRead, signal, fromSegment, decode = true }: VerifyLogOptions = {},
): Promise<LogVerification> {
  const scanner = new LogScanner(files, folder, { segment: fromSegment, decode });
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
