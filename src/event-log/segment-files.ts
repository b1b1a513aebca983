import { dirname, join } from 'node:path';
import { Encoder } from '@msgpack/msgpack';
import { bounds } from '../bounds.ts';
import { writeFileDurably } from '../files/durable-files.ts';
import type { LogFiles } from './log-files.ts';
import {
  encodeSegmentHeader,
  isTornBytesFileName,
  parseSegmentFileNames,
  type SegmentHeader,
  segmentFileName,
} from './log-format.ts';
import type { SegmentReader } from './segment-reader.ts';
import { FrameGroup } from './segment-writer.ts';

/**
 * Appends a complete segment to a log that has no other writer. After a power cut, the segment exists completely or not at all. `header`
 * contains the next sequence number of the log and the CRC of the log's last record. Throws system errors.
 */
export function writeSegment(folder: string, header: SegmentHeader, records: Iterable<readonly unknown[]>): void {
  writeFileDurably(join(folder, segmentFileName(header.firstSequence)), encodeSegment(header, records));
}

/** Encodes a segment. Yields chunks of bytes. A chunk is valid only until the next chunk is yielded. */
function* encodeSegment(header: SegmentHeader, records: Iterable<readonly unknown[]>): Generator<Buffer, void> {
  yield encodeSegmentHeader(header);
  const encoder = new Encoder();
  const group = new FrameGroup();
  let { firstSequence: sequence, previousCrc } = header;
  for (const record of records) {
    // Every frame gets a sync mark (see log-format.ts), because recovery reports an incomplete frame as damage only if a later frame has a
    // sync mark. In a segment that is written atomically, an incomplete frame is always damage.
    group.add(encoder.encodeSharedRef(record), sequence++, previousCrc, true);
    previousCrc = group.lastCrc;
    if (group.length < bounds.logGroupInitialBytes) continue;
    yield group.encodedFrames.subarray(0, group.length);
    group.clearFrames();
  }
  yield group.encodedFrames.subarray(0, group.length);
}

/**
 * Copies a segment from offset `from` to offset `to`, or to its end, into a new file. The new file gets its final name once the copy is
 * complete and durable. Calls `onChunk` with the length of each copied chunk.
 */
export async function copySegmentRange(
  files: LogFiles,
  segment: SegmentReader,
  from: number,
  to: number,
  path: string,
  onChunk: (bytes: number) => void = () => {},
): Promise<void> {
  const copy = await files.createFile(`${path}.new`);
  try {
    let offset = 0;
    for (const chunk of segment.readChunks(from, to)) {
      await copy.write(chunk, chunk.length, offset);
      offset += chunk.length;
      onChunk(chunk.length);
    }
    await copy.datasync();
  } finally {
    await copy.close();
  }
  await files.rename(`${path}.new`, path);
  await files.syncFolder(dirname(path));
}

/**
 * Deletes the segments whose records all precede a sequence number. Also deletes the copies of bytes that recovery removed from these
 * segments. Deletes the segments one by one, oldest first, so that a crash leaves no gap in the log. Never deletes the newest segment. The
 * log may be in use.
 *
 * Returns the number of deleted segments. Rejects with the system error if a file operation fails.
 */
export async function deleteSegmentsBefore(files: LogFiles, folder: string, beforeSequence: number): Promise<number> {
  const names = files.listFiles(folder);
  const firsts = parseSegmentFileNames(names);
  let deleted = 0;
  for (; firsts[deleted + 1] !== undefined && firsts[deleted + 1]! <= beforeSequence; deleted++) {
    const segment = segmentFileName(firsts[deleted]!);
    for (const name of names) if (isTornBytesFileName(segment, name)) await files.remove(join(folder, name));
    await files.remove(join(folder, segment));
    await files.syncFolder(folder);
  }
  return deleted;
}
