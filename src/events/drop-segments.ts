import { join } from 'node:path';
import type { LogFiles } from './log-files.ts';
import { segmentFirstSequences, isRemovedTailOf, segmentFileName } from './log-format.ts';

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
