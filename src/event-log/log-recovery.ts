import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import { bounds } from '../bounds.ts';
import type { LogFiles } from './log-files.ts';
import {
  formatTornBytesFileName,
  isTemporaryFileName,
  parseSegmentFileNames,
  RecordDecoder,
  segmentFileName,
  segmentHeaderLength,
} from './log-format.ts';
import { type LogCursor, type LogLocation, LogScanner, openSegmentFile } from './log-scanner.ts';
import { copySegmentRange } from './segment-files.ts';
import { type SegmentReader, withSegmentReader } from './segment-reader.ts';
import { logSizeBytes } from './verify-log.ts';

/** Called for each record in order. Retain only copies of byte arrays, because later records overwrite their memory. */
export type RecordCallback = (position: number, record: unknown) => void;

/** Called at intervals with the number of bytes that are already read and the total number of bytes to read. */
export type ReadProgressListener = (bytes: number, totalBytes: number) => void;

export interface RecoveredLog {
  /** Cursor after the last record. */
  readonly cursor: LogCursor;
  /** Whether the log is empty, or was closed and therefore ends with an end mark (see log-format.ts). */
  readonly hasEndMark: boolean;
  readonly removedTail: RemovedTail | null;
}

/** Bytes that recovery removed from the end of a log: incomplete records, which normally were not yet reported as durable. */
export interface RemovedTail extends LogLocation {
  readonly bytes: number;
  /** File to which recovery copied the removed bytes. */
  readonly copyFile: string;
}

/**
 * Time from which the records of a log are read. Older records may also be read, because only whole segments are skipped. `timeMsOf`
 * returns the time of a record, or null for a record without a time.
 */
export interface ReplayStartPosition {
  /** Time in milliseconds since the Unix epoch. */
  readonly wallMs: number;
  /** Position of a record that is read even if the record is older than `wallMs`. */
  readonly position?: number;
  readonly timeMsOf: (record: unknown) => number | null;
}

interface RecoverLogOptions {
  /** Start of the recovery. A cursor must have been checked (see `LogReader`), because its segment may have been replaced. */
  readonly since?: ReplayStartPosition | LogCursor | undefined;
  /** Whether to decode and visit the record at a position; by default, true for all records. */
  readonly isNeeded?: ((position: number) => boolean) | undefined;
  readonly onRead?: ReadProgressListener | undefined;
}

/**
 * Reads the log up to the last complete record and makes the log durable up to that record. Moves the bytes after the last complete record
 * to another file. New records are written to a new segment. Yields to the event loop between chunks.
 *
 * Starts at the cursor `since`, or with the newest segment whose first record is older than the time `since`, and does not detect damage
 * before the start. Reads all segments if `since` is undefined.
 *
 * @throws LogDamagedError for any damage except an incomplete record at the end of the log
 */
export async function recoverLog(
  files: LogFiles,
  folder: string,
  visit: RecordCallback | undefined,
  { since, isNeeded = () => true, onRead }: RecoverLogOptions = {},
): Promise<RecoveredLog> {
  const names = files.listFiles(folder);
  for (const name of names.filter(isTemporaryFileName)) await files.remove(join(folder, name));
  const cursor = since !== undefined && 'segment' in since && since.segment > 0 ? since : null;
  const segment =
    since !== undefined && 'wallMs' in since
      ? findNewestSegmentBefore(files, folder, parseSegmentFileNames(names), since)
      : cursor?.segment;
  const totalBytes = onRead === undefined ? 0 : logSizeBytes(files, folder, segment);
  const decode = visit !== undefined && isNeeded;
  const scanner = new LogScanner(files, folder, { segment, decode });
  if (cursor !== null) scanner.continueAtSegment(openSegmentFile(files, folder, cursor.segment), cursor);
  try {
    let yieldAt: number = bounds.logReadChunkBytes;
    // A cursor in the segment of the last record. The end mark does not show whether this segment is complete.
    let end = cursor;
    while (scanner.nextRecord()) {
      end = scanner.cursor;
      if (isNeeded(scanner.position)) visit?.(scanner.position, scanner.record);
      if (scanner.bytesRead >= yieldAt) {
        yieldAt = scanner.bytesRead + bounds.logReadChunkBytes;
        onRead?.(scanner.bytesRead, totalBytes);
        await nextTurn();
      }
    }
    const hasEndMark = scanner.segment === null || scanner.segment.offset === segmentHeaderLength;
    return { cursor: end ?? scanner.cursor, hasEndMark, removedTail: await truncateTornTail(files, folder, scanner) };
  } finally {
    scanner.close();
  }
}

/**
 * Finds the newest segment that starts before the time `wallMs` and not after the record at `position`. Returns the sequence number of the
 * first record of that segment. Skips unreadable segments.
 */
export function findNewestSegmentBefore(
  files: LogFiles,
  folder: string,
  firsts: readonly number[],
  { wallMs, position = Number.POSITIVE_INFINITY, timeMsOf }: ReplayStartPosition,
): number | undefined {
  return firsts.findLast((first) => {
    if (first > position) return false;
    const record = readFirstRecord(files, join(folder, segmentFileName(first)), first);
    const timeMs = record === null ? null : timeMsOf(record);
    return timeMs !== null && timeMs < wallMs;
  });
}

/** Reads the first record of a segment. Returns null if the segment cannot be read. */
function readFirstRecord(files: LogFiles, path: string, first: number): unknown[] | null {
  try {
    return withSegmentReader(files, path, (segment) => {
      const isComplete = segment.readFrame(first, segment.readHeader().previousCrc);
      return isComplete ? new RecordDecoder().decodeRecord(segment.payload) : null;
    });
  } catch {
    return null;
  }
}

/** Truncates the last segment after its last complete frame, and makes the remaining frames durable. */
async function truncateTornTail(files: LogFiles, folder: string, scanner: LogScanner): Promise<RemovedTail | null> {
  const { segment, lastSyncedGroupOffset, tornBytes } = scanner;
  if (segment === null) return null;
  const end = segment.offset;
  const removedTail = tornBytes === 0 ? null : await saveTornTail(files, segment, tornBytes);
  const file = await files.openForWriting(segment.path);
  try {
    // A crash may have prevented the sync of the last group of frames, so the group is written and synced again. A sync without the write
    // is not enough: after a failed sync, the kernel marks the unwritten pages as clean, and another sync would not write these pages.
    let offset = lastSyncedGroupOffset ?? end;
    for (const chunk of segment.readChunks(offset, end)) {
      await file.write(chunk, chunk.length, offset);
      offset += chunk.length;
    }
    if (segment.size() > end) await file.truncate(end);
    await file.datasync();
  } finally {
    await file.close();
  }
  await files.syncFolder(folder);
  return removedTail;
}

async function saveTornTail(files: LogFiles, segment: SegmentReader, bytes: number): Promise<RemovedTail> {
  const { path: file, offset } = segment;
  let crc = 0;
  for (const chunk of segment.readChunks(offset, offset + bytes)) crc = crc32(chunk, crc);
  const copyFile = formatTornBytesFileName(file, offset, crc);
  await copySegmentRange(files, segment, offset, offset + bytes, copyFile);
  return { file, offset, bytes, copyFile };
}
