import { join } from 'node:path';
import { bounds } from '../bounds.ts';
import type { FrameGroup } from './frame-group.ts';
import type { LogFiles, WritableLogFile } from './log-files.ts';
import { encodeSegmentHeader, segmentFileName, segmentHeaderBytes, temporaryFileName } from './log-format.ts';

interface OpenSegment {
  readonly file: WritableLogFile;
  /** File offset of the next group in bytes. */
  offset: number;
  /** Size of the file in bytes, including the zeros after `offset`. */
  preallocatedBytes: number;
}

interface SegmentWriterOptions {
  readonly files: LogFiles;
  readonly folder: string;
  readonly syncsGroups: boolean;
  readonly segmentBytesMax: number;
}

/** Writes groups of frames to segment files. Creates a new segment for the first group, after a full segment, and after `abandon`. */
export class SegmentWriter {
  readonly #options: SegmentWriterOptions;
  #segment: OpenSegment | null = null;

  constructor(options: SegmentWriterOptions) {
    this.#options = options;
  }

  async writeGroup(group: FrameGroup): Promise<void> {
    const { syncsGroups, segmentBytesMax } = this.#options;
    let segment = this.#segment;
    if (segment === null || segment.offset + group.length > segmentBytesMax) segment = await this.#createSegment(group);
    const { file, offset } = segment;
    const end = offset + group.length;
    const growsFile = end > segment.preallocatedBytes;
    if (growsFile) await this.#preallocate(segment, end);
    if (syncsGroups && !growsFile) {
      await file.writeAndSync(group.bytes, group.length, offset);
    } else {
      await file.write(group.bytes, group.length, offset);
      // The zeros are synced too. Otherwise each later group would change the size of the file.
      if (syncsGroups) await file.datasync();
    }
    segment.offset = end;
  }

  /** Writes the end mark, which is an empty segment (see log-format.ts). */
  async writeEndMark(firstSequence: number, previousCrc: number): Promise<void> {
    await this.#createSegment({ firstSequence, previousCrc });
  }

  /** Removes the preallocated zeros, then syncs and closes the segment, even if groups are not synced. */
  async close(): Promise<void> {
    const segment = this.#segment;
    if (segment === null) return;
    if (segment.preallocatedBytes > segment.offset) await segment.file.truncate(segment.offset);
    await segment.file.datasync();
    this.#segment = null;
    await segment.file.close();
  }

  /** Closes the segment after a failed write or sync. The segment is never written again, because its content on disk is unknown. */
  async abandon(): Promise<void> {
    const segment = this.#segment;
    this.#segment = null;
    await segment?.file.close().catch(() => {});
  }

  /** Writes zeros after the data. A sync that does not change the size of the file takes about two thirds of the time. */
  async #preallocate(segment: OpenSegment, end: number): Promise<void> {
    const size = Math.max(end, Math.min(this.#options.segmentBytesMax, end + zeros.length));
    if (size > end) await segment.file.write(zeros, size - end, end);
    segment.preallocatedBytes = size;
  }

  async #createSegment(first: Pick<FrameGroup, 'firstSequence' | 'previousCrc'>): Promise<OpenSegment> {
    await this.close();
    const { files, folder } = this.#options;
    const name = segmentFileName(first.firstSequence);
    const temporary = join(folder, temporaryFileName(name));
    const file = await files.create(temporary);
    try {
      await file.write(encodeSegmentHeader(first), segmentHeaderBytes, 0);
      await file.datasync();
      await files.rename(temporary, join(folder, name));
      await files.syncFolder(folder);
    } catch (error) {
      await file.close().catch(() => {});
      throw error;
    }
    this.#segment = { file, offset: segmentHeaderBytes, preallocatedBytes: segmentHeaderBytes };
    return this.#segment;
  }
}

const zeros = Buffer.alloc(bounds.logPreallocationBytes);
