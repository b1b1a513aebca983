import { dirname, join } from 'node:path';
import { Encoder } from '@msgpack/msgpack';
import { bounds } from '../bounds.ts';
import { writeFileDurably } from '../files/durable-files.ts';
import type { LogFiles } from './log-files.ts';
import {
  encodeMarkedFrame,
  encodeSegmentHeader,
  isRemovedTailOf,
  type SegmentHeader,
  segmentFileName,
  segmentFirstSequences,
} from './log-format.ts';
import type { SegmentReader } from './segment-reader.ts';

/**
 * Adds one whole segment to a log that is only ever written in whole segments: after a power cut it is there in full or not
 * at all. `header` says what it continues: the sequence behind the last record of the log, and that record's CRC. The log
 * must have no other writer. Throws as `writeFileDurably` does.
 */
export function writeSegment(folder: string, header: SegmentHeader, records: Iterable<readonly unknown[]>): void {
  // Names and figures of tenants may be in there, as in the folders of the other logs.
  writeFileDurably(join(folder, segmentFileName(header.firstSequence)), encodeSegment(header, records));
}

/** Its bytes in pieces, since a segment may be larger than what is to be held in memory. */
function* encodeSegment(header: SegmentHeader, records: Iterable<readonly unknown[]>): Generator<Buffer, void> {
  const encoder = new Encoder();
  let frames = [encodeSegmentHeader(header)];
  let bytes = 0;
  let { firstSequence: sequence, previousCrc } = header;
  for (const record of records) {
    // Marked, each of them: nothing of such a segment can be torn, so whatever is not whole is damage.
    const frame = encodeMarkedFrame(encoder.encodeSharedRef(record), sequence, previousCrc);
    frames.push(frame.bytes);
    bytes += frame.bytes.length;
    previousCrc = frame.crc;
    sequence++;
    if (bytes < bounds.logGroupInitialBytes) continue;
    yield Buffer.concat(frames);
    frames = [];
    bytes = 0;
  }
  yield Buffer.concat(frames);
}

/**
 * Copies the bytes of a segment from `from` up to `to` into a file of their own, before they are cut off. The copy is durable, and
 * has its name, only once it is complete.
 */
export async function copySegmentRange(
  files: LogFiles,
  segment: SegmentReader,
  from: number,
  to: number,
  path: string,
): Promise<void> {
  const copy = await files.create(`${path}.new`);
  try {
    let at = 0;
    for (const piece of segment.readChunks(from, to)) {
      await copy.write(piece, piece.length, at);
      at += piece.length;
    }
    await copy.datasync();
  } finally {
    await copy.close();
  }
  await files.rename(`${path}.new`, path);
  await files.syncFolder(dirname(path));
}

/**
 * Removes the segments of a log that hold only records before a sequence number, oldest first and each for good before the
 * next, so that whatever ends it leaves a log without a gap. What recovery once cut off a segment goes with it. The newest
 * segment stays. The log may be in use.
 *
 * Returns how many were removed. Rejects with the error of the system.
 */
export async function dropSegments(files: LogFiles, folder: string, beforeSequence: number): Promise<number> {
  const names = files.listNames(folder);
  const firsts = segmentFirstSequences(names);
  let dropped = 0;
  for (; firsts[dropped + 1] !== undefined && firsts[dropped + 1]! <= beforeSequence; dropped++) {
    const segment = segmentFileName(firsts[dropped]!);
    for (const name of names) if (isRemovedTailOf(segment, name)) await files.remove(join(folder, name));
    await files.remove(join(folder, segment));
    await files.syncFolder(folder);
  }
  return dropped;
}
