import { join } from 'node:path';
import type { LogFiles } from './log-files.ts';
import { firstSequences, segmentName } from './log-format.ts';

/**
 * Removes the segments of a log that hold only records before a sequence number, oldest first and each for good before the
 * next, so that whatever ends it leaves a log without a gap. The newest segment stays. The log may be in use.
 *
 * Returns how many were removed. Rejects with the error of the system.
 */
export async function dropSegments(files: LogFiles, folder: string, beforeSequence: number): Promise<number> {
  const firsts = firstSequences(files.list(folder));
  let dropped = 0;
  for (; firsts[dropped + 1] !== undefined && firsts[dropped + 1]! <= beforeSequence; dropped++) {
    await files.remove(join(folder, segmentName(firsts[dropped]!)));
    await files.syncFolder(folder);
  }
  return dropped;
}
