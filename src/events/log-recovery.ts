import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { bounds } from '../bounds.ts';
import type { LogFiles } from './log-files.ts';
import { firstSequences, isUnfinished, segmentName } from './log-format.ts';
import { RecordDecoder } from './record-decoder.ts';
import { LogDamaged, SegmentReader } from './segment-reader.ts';

/**
 * Sees every record of the log once, in order. `record` is an array as it was appended; `payload` is its msgpack. Bytes are
 * views of a larger piece of the file: copy what is kept for long.
 */
export type RecordVisitor = (position: number, record: unknown, payload: Uint8Array) => void;

export interface RecoveredLog {
  /** Of the last record; 0 when there is none. */
  readonly position: number;
  readonly crc: number;
  /** The torn tail that was cut off, if there was one: bytes of a group that nobody was told is durable. */
  readonly cut: { readonly file: string; readonly offset: number; readonly bytes: number } | null;
}

/**
 * Reads the log from its first record to its last whole one, in chunks, giving way to the event loop between them, and
 * leaves it durable up to there: a torn tail of the last segment is cut off. The last segment is not written again; the
 * log goes on in a new one.
 *
 * @throws LogDamaged when anything but a torn tail is wrong.
 */
export async function recoverLog(
  files: LogFiles,
  folder: string,
  shard: number,
  visit: RecordVisitor | undefined,
): Promise<RecoveredLog> {
  const names = files.list(folder);
  for (const name of names.filter(isUnfinished)) await files.remove(join(folder, name));
  const firsts = firstSequences(names);
  const decoder = new RecordDecoder();
  let position = 0;
  let crc = 0;
  let cut: RecoveredLog['cut'] = null;

  for (const [index, first] of firsts.entries()) {
    const segment = new SegmentReader(files, join(folder, segmentName(first)));
    try {
      const header = segment.header();
      if (header.shard !== shard)
        throw new LogDamaged(segment.path, 0, `the segment is of shard ${header.shard}, not ${shard}`);
      // The oldest segment is taken at its word: those before it may have been pruned.
      if (index === 0) {
        position = first - 1;
        crc = first === 1 ? 0 : header.previousCrc;
      }
      if (header.firstSequence !== first || header.firstSequence !== position + 1 || header.previousCrc !== crc) {
        throw new LogDamaged(segment.path, 0, `the segment does not continue record ${position}`);
      }
      const next = firsts[index + 1];
      let groupOffset: number | null = null;
      let yieldAt = bounds.logChunkBytes;
      while (next === undefined || position + 1 < next) {
        const offset = segment.offset;
        if (!segment.next(position + 1, crc)) {
          if (next !== undefined) {
            throw new LogDamaged(segment.path, offset, `record ${position + 1} is missing or not whole`);
          }
          cut = await settleTail(files, folder, segment, position + 1, groupOffset);
          break;
        }
        position++;
        crc = segment.crc;
        if (segment.marked) groupOffset = offset;
        if (visit !== undefined) visit(position, decode(decoder, segment, offset), segment.payload);
        if (segment.offset >= yieldAt) {
          yieldAt = segment.offset + bounds.logChunkBytes;
          await nextTurn();
        }
      }
    } finally {
      segment.close();
    }
  }
  return { position, crc, cut };
}

/** Cuts the last segment behind its last whole frame and makes what is left durable. */
async function settleTail(
  files: LogFiles,
  folder: string,
  segment: SegmentReader,
  missing: number,
  groupOffset: number | null,
): Promise<RecoveredLog['cut']> {
  const end = segment.offset;
  const { tornBytes, markOffset } = segment.examineTail(missing);
  if (markOffset !== null) {
    const what = `record ${missing} is not whole, and records synced after it follow at byte ${markOffset}`;
    throw new LogDamaged(segment.path, end, what);
  }
  const file = await files.openForWriting(segment.path);
  try {
    // The last group may have been written by a process whose sync failed or never came. After a failed sync the kernel
    // takes the pages for clean, and syncing them again does nothing: they must be written again first.
    for (let at = groupOffset ?? end; at < end; ) {
      const bytes = segment.bytesAt(at, Math.min(bounds.logChunkBytes, end - at));
      await file.write(bytes, bytes.length, at);
      at += bytes.length;
    }
    if (segment.size() > end) await file.truncate(end);
    await file.datasync();
  } finally {
    await file.close();
  }
  await files.syncFolder(folder);
  return tornBytes > 0 ? { file: segment.path, offset: end, bytes: tornBytes } : null;
}

function decode(decoder: RecordDecoder, segment: SegmentReader, offset: number): unknown[] {
  try {
    return decoder.decode(segment.payload);
  } catch (error) {
    throw new LogDamaged(segment.path, offset, `the record cannot be decoded: ${String(error)}`);
  }
}
