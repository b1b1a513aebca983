import { closeSync, fdatasyncSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Encoder } from '@msgpack/msgpack';
import { bounds } from '../bounds.ts';
import type { LogEnd } from '../files/data-inventory.ts';
import { fsyncPath, writeFileDurably } from '../files/durable-files.ts';
import { type LogFiles, nodeFileSystem } from './log-files.ts';
import {
  encodeSegmentHeader,
  isTornBytesFileName,
  parseSegmentFileNames,
  type SegmentHeader,
  segmentFileName,
  temporaryFileName,
} from './log-format.ts';
import type { SegmentReader } from './segment-reader.ts';
import { FrameGroup } from './segment-writer.ts';

/**
 * Appends a segment without records to a log that has no other writer. `header` contains the next sequence number of the log and the CRC of
 * the log's last record. Throws system errors.
 */
export function writeEmptySegment(folder: string, header: SegmentHeader): void {
  writeFileDurably(join(folder, segmentFileName(header.firstSequence)), encodeSegmentHeader(header));
}

/**
 * Writes a segment to a temporary file, which becomes a part of the log when `publish` is called. After a power cut, the log has the complete
 * segment or nothing of it. The log must have no other writer. All methods throw system errors; the caller must then call `discard`.
 */
export class SegmentFileWriter {
  readonly #path: string;
  readonly #name: string;
  readonly #file: number;
  readonly #encoder = new Encoder();
  readonly #group = new FrameGroup();
  #sequence: number;
  #crc: number;
  #isOpen = true;

  /** @param header contains the next sequence number of the log and the CRC of the log's last record */
  constructor(folder: string, header: SegmentHeader) {
    this.#name = segmentFileName(header.firstSequence);
    this.#path = join(folder, this.#name);
    this.#sequence = header.firstSequence;
    this.#crc = header.previousCrc;
    this.#file = openSync(temporaryFileName(this.#path), 'w', 0o600);
    try {
      writeFileSync(this.#file, encodeSegmentHeader(header));
    } catch (error) {
      this.discard();
      throw error;
    }
  }

  /** Position and CRC of the last record. */
  get end(): LogEnd {
    return { position: this.#sequence - 1, crc: this.#crc };
  }

  /** File system in which the segment is the only one of the log, to read the segment before `publish`. */
  get files(): LogFiles {
    return {
      ...nodeFileSystem,
      listFiles: () => [this.#name],
      openForReading: (path) => nodeFileSystem.openForReading(temporaryFileName(path)),
    };
  }

  add(record: readonly unknown[]): void {
    // Every frame gets a sync mark (see log-format.ts), because recovery reports an incomplete frame as damage only if a later frame has a
    // sync mark. In a segment that is published as a whole, an incomplete frame is always damage.
    this.#group.add(this.#encoder.encodeSharedRef(record), this.#sequence++, this.#crc, true);
    this.#crc = this.#group.lastCrc;
    if (this.#group.length >= bounds.logGroupInitialBytes) this.sync();
  }

  /** Writes the records to the disk, so that the sync of a large segment does not take long. */
  sync(): void {
    writeFileSync(this.#file, this.#group.encodedFrames.subarray(0, this.#group.length));
    this.#group.clearFrames();
    fdatasyncSync(this.#file);
  }

  /** Makes the segment a part of the log. All records must be synced. */
  publish(): void {
    this.#close();
    renameSync(temporaryFileName(this.#path), this.#path);
    fsyncPath(dirname(this.#path));
  }

  /** Deletes the temporary file. Has no effect after `publish`. */
  discard(): void {
    this.#close();
    rmSync(temporaryFileName(this.#path), { force: true });
  }

  #close(): void {
    if (this.#isOpen) closeSync(this.#file);
    this.#isOpen = false;
  }
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
