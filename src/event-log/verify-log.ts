import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { bounds } from '../bounds.ts';
import type { LogFiles, ReadableLogFile } from './log-files.ts';
import { segmentFileName, segmentFirstSequences } from './log-format.ts';
import { type LogLocation, LogScanner } from './log-scanner.ts';
import { LogDamagedError } from './segment-reader.ts';

/** What a log holds. All but `segments` and `bytes` tells of what is whole: up to the damage, if there is some. */
export interface LogVerification {
  readonly folder: string;
  /** Segment files in the folder, and the size of them all, with what is reserved behind the last record. */
  readonly segments: number;
  readonly bytes: number;
  readonly records: number;
  /** Of the last record; where records were pruned, it is more than there are. */
  readonly position: number;
  readonly crc: number;
  /** Where the last record ends; null when not even a segment's header is whole. */
  readonly end: LogLocation | null;
  /** Bytes behind the end that are no whole record: a write under way, or a torn tail that opening the log cuts. */
  readonly tornBytes: number;
  /** The first thing wrong, which keeps a log from being opened that is read from its start. */
  readonly damage: LogDamagedError | null;
}

export interface VerifyLogOptions {
  readonly onRecord?: (position: number, record: readonly unknown[]) => void;
  /** Told how many bytes more were read, after each record. */
  readonly onBytesRead?: (bytes: number) => void;
  /** Gives up, and rejects with its reason. */
  readonly signal?: AbortSignal;
}

/** Size of the segments of a log, which may be in use: of all, or from one on. */
export function logSizeBytes(files: LogFiles, folder: string, fromSegment = 0): number {
  const firsts = segmentFirstSequences(files.listNames(folder)).filter((first) => first >= fromSegment);
  return firsts.reduce((sum, first) => sum + segmentSizeBytes(files, folder, first), 0);
}

function segmentSizeBytes(files: LogFiles, folder: string, first: number): number {
  let file: ReadableLogFile;
  try {
    file = files.openForReading(join(folder, segmentFileName(first)));
  } catch (error) {
    // Dropped since the folder was listed.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 0;
    throw error;
  }
  try {
    return file.size();
  } finally {
    file.close();
  }
}

/**
 * Reads a whole log, every record and what ties it to the one before, by the very steps of opening it, giving way to the
 * event loop now and then, and changes nothing. The log may be in use.
 *
 * @throws LogRewrittenError when its writer went back behind what had been read, or dropped it; then it is to be checked again.
 */
export async function verifyLog(
  files: LogFiles,
  folder: string,
  { onRecord, onBytesRead, signal }: VerifyLogOptions = {},
): Promise<LogVerification> {
  const walk = new LogScanner(files, folder, { decode: true });
  let records = 0;
  let end: LogLocation | null = null;
  let damage: LogDamagedError | null = null;
  let yieldAt: number = bounds.logReadChunkBytes;
  try {
    let reported = 0;
    const report = (): void => {
      onBytesRead?.(walk.bytesRead - reported);
      reported = walk.bytesRead;
    };
    while (walk.nextRecord()) {
      records++;
      onRecord?.(walk.position, walk.record);
      report();
      if (walk.bytesRead < yieldAt) continue;
      yieldAt = walk.bytesRead + bounds.logReadChunkBytes;
      await nextTurn();
      signal?.throwIfAborted();
    }
    // An end mark has a header and no record.
    report();
    end = walk.end;
  } catch (error) {
    if (!(error instanceof LogDamagedError)) throw error;
    damage = error;
    end = walk.end;
  } finally {
    walk.close();
  }
  const { position, crc, tornBytes } = walk;
  const segments = segmentFirstSequences(files.listNames(folder)).length;
  return {
    folder,
    segments,
    bytes: logSizeBytes(files, folder),
    records,
    position,
    crc,
    end,
    tornBytes,
    damage,
  };
}
