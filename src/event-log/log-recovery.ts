import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import { bounds } from '../bounds.ts';
import type { LogFiles } from './log-files.ts';
import {
  isTemporaryFile,
  RecordDecoder,
  removedTailFileName,
  segmentFileName,
  segmentFirstSequences,
  segmentHeaderBytes,
} from './log-format.ts';
import { LogScanner } from './log-scanner.ts';
import { copySegmentRange } from './segment-files.ts';
import { SegmentReader } from './segment-reader.ts';
import { logSizeBytes } from './verify-log.ts';

/**
 * Sees every record of the log once, in order. `record` is an array as it was appended; `payload` is its msgpack. Bytes are
 * views of a larger piece of the file: copy what is kept for long.
 */
export type RecordVisitor = (position: number, record: unknown, payload: Uint8Array) => void;

/** Told now and then how many bytes were read, of how many there are to read. */
export type ReadProgressListener = (bytes: number, ofBytes: number) => void;

export interface RecoveredLog {
  /** Of the last record; 0 when there is none. */
  readonly position: number;
  readonly crc: number;
  /** Whether the log has its end mark (see log-format.ts), or no segment at all. */
  readonly hasEndMark: boolean;
  /** The torn tail that was cut off, if there was one. */
  readonly removedTail: RemovedTail | null;
}

/** Bytes behind the last whole record of a log that was not closed: normally of a group that was never acknowledged. */
export interface RemovedTail {
  readonly file: string;
  readonly offset: number;
  readonly bytes: number;
  /** File that holds a copy of these bytes. */
  readonly copyFile: string;
}

/**
 * What an owner needs of a log whose older records tell it nothing. Segments are left out as wholes, so it sees some of
 * the older records too. `timeMsOf` is null for a record that has no time; nothing is left out on its account.
 */
export interface ReadSince {
  /** Milliseconds since the Unix epoch. */
  readonly wallMs: number;
  readonly timeMsOf: (record: unknown) => number | null;
}

/**
 * Reads the log up to its last whole record, in chunks, giving way to the event loop between them, and leaves it durable up
 * to there: a torn tail of the last segment is copied to a file beside it, and then cut off. The last segment is not written
 * again; the log goes on in a new one.
 *
 * It reads from the first record, or, given `since`, from the newest segment whose first record is older than that moment:
 * damage in the segments before it is left to whoever reads those.
 *
 * @throws LogDamagedError when anything but a torn tail is wrong.
 */
export async function recoverLog(
  files: LogFiles,
  folder: string,
  visit: RecordVisitor | undefined,
  since?: ReadSince,
  onRead?: ReadProgressListener,
): Promise<RecoveredLog> {
  const names = files.listNames(folder);
  for (const name of names.filter(isTemporaryFile)) await files.remove(join(folder, name));
  const segment = since && newestSegmentStartedBefore(files, folder, segmentFirstSequences(names), since);
  const ofBytes = onRead === undefined ? 0 : logSizeBytes(files, folder, segment);
  const walk = new LogScanner(files, folder, { segment, decode: visit !== undefined });
  try {
    let yieldAt: number = bounds.logReadChunkBytes;
    while (walk.nextRecord()) {
      visit?.(walk.position, walk.record, walk.payload);
      if (walk.bytesRead >= yieldAt) {
        yieldAt = walk.bytesRead + bounds.logReadChunkBytes;
        onRead?.(walk.bytesRead, ofBytes);
        await nextTurn();
      }
    }
    const { position, crc } = walk;
    const hasEndMark = walk.segment === null || walk.segment.offset === segmentHeaderBytes;
    return { position, crc, hasEndMark, removedTail: await truncateTornTail(files, folder, walk) };
  } finally {
    walk.close();
  }
}

/** First sequence of that segment. One whose first record does not tell is passed over: whatever is wrong is then read. */
export function newestSegmentStartedBefore(
  files: LogFiles,
  folder: string,
  firsts: readonly number[],
  { wallMs, timeMsOf }: ReadSince,
): number | undefined {
  return firsts.findLast((first) => {
    const record = readFirstRecord(files, join(folder, segmentFileName(first)), first);
    const began = record === null ? null : timeMsOf(record);
    return began !== null && began < wallMs;
  });
}

/** The record a segment begins with, or null when there is none to be read. */
function readFirstRecord(files: LogFiles, path: string, first: number): unknown[] | null {
  const segment = new SegmentReader(files, path);
  try {
    if (!segment.readFrame(first, segment.readHeader().previousCrc)) return null;
    return new RecordDecoder().decode(segment.payload);
  } catch {
    return null;
  } finally {
    segment.close();
  }
}

/** Cuts the last segment behind its last whole frame and makes what is left durable. */
async function truncateTornTail(files: LogFiles, folder: string, walk: LogScanner): Promise<RemovedTail | null> {
  const { segment, lastSyncedGroupOffset, tornBytes } = walk;
  if (segment === null) return null;
  const end = segment.offset;
  const cut = tornBytes === 0 ? null : await saveTornTail(files, segment, tornBytes);
  const file = await files.openForWriting(segment.path);
  try {
    // The last group may have been written by a process whose sync failed or never came. After a failed sync the kernel
    // takes the pages for clean, and syncing them again does nothing: they must be written again first.
    let at = lastSyncedGroupOffset ?? end;
    for (const piece of segment.readChunks(at, end)) {
      await file.write(piece, piece.length, at);
      at += piece.length;
    }
    if (segment.size() > end) await file.truncate(end);
    await file.datasync();
  } finally {
    await file.close();
  }
  await files.syncFolder(folder);
  return cut;
}

async function saveTornTail(files: LogFiles, segment: SegmentReader, bytes: number): Promise<RemovedTail> {
  const { path: file, offset } = segment;
  let crc = 0;
  for (const piece of segment.readChunks(offset, offset + bytes)) crc = crc32(piece, crc);
  const copyFile = removedTailFileName(file, offset, crc);
  await copySegmentRange(files, segment, offset, offset + bytes, copyFile);
  return { file, offset, bytes, copyFile };
}
