import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import { bounds } from '../bounds.ts';
import { logBytes } from './check-log.ts';
import type { LogFiles } from './log-files.ts';
import { cutTailName, firstSequences, headerBytes, isUnfinished, segmentName } from './log-format.ts';
import { LogWalk } from './log-walk.ts';
import { RecordDecoder } from './record-decoder.ts';
import { SegmentReader } from './segment-reader.ts';
import { setAside } from './set-aside.ts';

/**
 * Sees every record of the log once, in order. `record` is an array as it was appended; `payload` is its msgpack. Bytes are
 * views of a larger piece of the file: copy what is kept for long.
 */
export type RecordVisitor = (position: number, record: unknown, payload: Uint8Array) => void;

/** Told now and then how many bytes were read, of how many there are to read. */
export type RecoveryObserver = (bytes: number, ofBytes: number) => void;

export interface RecoveredLog {
  /** Of the last record; 0 when there is none. */
  readonly position: number;
  readonly crc: number;
  /** Whether the log has its end mark (see log-format.ts), or no segment at all. */
  readonly endMarked: boolean;
  /** The torn tail that was cut off, if there was one. */
  readonly cut: CutTail | null;
}

/** Bytes behind the last whole record of a log that was not closed: normally of a group that was never acknowledged. */
export interface CutTail {
  readonly file: string;
  readonly offset: number;
  readonly bytes: number;
  /** File that holds a copy of these bytes. */
  readonly aside: string;
}

/**
 * What an owner needs of a log whose older records tell it nothing. Segments are left out as wholes, so it sees some of
 * the older records too. `timeOf` is null for a record that has no time; nothing is left out on its account.
 */
export interface VisitSince {
  /** Milliseconds since the Unix epoch. */
  readonly wallMs: number;
  readonly timeOf: (record: unknown) => number | null;
}

/**
 * Reads the log up to its last whole record, in chunks, giving way to the event loop between them, and leaves it durable up
 * to there: a torn tail of the last segment is copied to a file beside it, and then cut off. The last segment is not written
 * again; the log goes on in a new one.
 *
 * It reads from the first record, or, given `since`, from the newest segment whose first record is older than that moment:
 * damage in the segments before it is left to whoever reads those.
 *
 * @throws LogDamaged when anything but a torn tail is wrong.
 */
export async function recoverLog(
  files: LogFiles,
  folder: string,
  shard: number,
  visit: RecordVisitor | undefined,
  since?: VisitSince,
  onRead?: RecoveryObserver,
): Promise<RecoveredLog> {
  const names = files.list(folder);
  for (const name of names.filter(isUnfinished)) await files.remove(join(folder, name));
  const segment = since && newestBegunBefore(files, folder, firstSequences(names), since);
  const ofBytes = onRead === undefined ? 0 : logBytes(files, folder, segment);
  const walk = new LogWalk(files, folder, { shard, segment, decode: visit !== undefined });
  try {
    let yieldAt: number = bounds.logChunkBytes;
    while (walk.next()) {
      visit?.(walk.position, walk.record, walk.payload);
      if (walk.bytes >= yieldAt) {
        yieldAt = walk.bytes + bounds.logChunkBytes;
        onRead?.(walk.bytes, ofBytes);
        await nextTurn();
      }
    }
    const { position, crc } = walk;
    const endMarked = walk.segment === null || walk.segment.offset === headerBytes;
    return { position, crc, endMarked, cut: await settleTail(files, folder, walk) };
  } finally {
    walk.close();
  }
}

/** First sequence of that segment. One whose first record does not tell is passed over: whatever is wrong is then read. */
export function newestBegunBefore(
  files: LogFiles,
  folder: string,
  firsts: readonly number[],
  { wallMs, timeOf }: VisitSince,
): number | undefined {
  return firsts.findLast((first) => {
    const record = firstRecord(files, join(folder, segmentName(first)), first);
    const began = record === null ? null : timeOf(record);
    return began !== null && began < wallMs;
  });
}

/** The record a segment begins with, or null when there is none to be read. */
function firstRecord(files: LogFiles, path: string, first: number): unknown[] | null {
  const segment = new SegmentReader(files, path);
  try {
    if (!segment.next(first, segment.header().previousCrc)) return null;
    return new RecordDecoder().decode(segment.payload);
  } catch {
    return null;
  } finally {
    segment.close();
  }
}

/** Cuts the last segment behind its last whole frame and makes what is left durable. */
async function settleTail(files: LogFiles, folder: string, walk: LogWalk): Promise<CutTail | null> {
  const { segment, groupOffset, tornBytes } = walk;
  if (segment === null) return null;
  const end = segment.offset;
  const cut = tornBytes === 0 ? null : await copyTail(files, segment, tornBytes);
  const file = await files.openForWriting(segment.path);
  try {
    // The last group may have been written by a process whose sync failed or never came. After a failed sync the kernel
    // takes the pages for clean, and syncing them again does nothing: they must be written again first.
    let at = groupOffset ?? end;
    for (const piece of segment.pieces(at, end)) {
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

async function copyTail(files: LogFiles, segment: SegmentReader, bytes: number): Promise<CutTail> {
  const { path: file, offset } = segment;
  let crc = 0;
  for (const piece of segment.pieces(offset, offset + bytes)) crc = crc32(piece, crc);
  const aside = cutTailName(file, offset, crc);
  await setAside(files, segment, offset, offset + bytes, aside);
  return { file, offset, bytes, aside };
}
