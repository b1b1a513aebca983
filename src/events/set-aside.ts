import { dirname } from 'node:path';
import type { LogFiles } from './log-files.ts';
import type { SegmentReader } from './segment-reader.ts';

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
