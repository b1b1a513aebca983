import { join } from 'node:path';
import { Encoder } from '@msgpack/msgpack';
import { bounds } from '../bounds.ts';
import { writeFileDurably } from '../files/write-file-durably.ts';
import { encodeMarkedFrame, encodeSegmentHeader, type SegmentHeader, segmentFileName } from './log-format.ts';

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
