import { closeSync, fsyncSync, openSync, readSync, writeSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { bounds } from '../bounds.ts';
import { createFolderDurably, fsyncPath } from '../files/durable-files.ts';
import { nodeLogFiles } from './log-files.ts';
import { segmentFileName, segmentFirstSequences, segmentHeaderBytes } from './log-format.ts';
import { LogRewrittenError } from './log-scanner.ts';
import { writeSegment } from './segment-files.ts';
import { type LogVerification, type VerifyLogOptions, verifyLog } from './verify-log.ts';

/** Number of times that `copyLog` reads each byte: for the check of the log, for the copy, and for the check of the copy. */
export const copyReadPasses = 3;

/**
 * Copies a log, which may be in use, up to the record that is the last record when the copy starts. Bytes before the end of a complete
 * record never change; later bytes may be written during the copy. The copy is durable, has an end mark, and is checked. Returns the
 * result of this check.
 *
 * @throws LogDamagedError if the log or its copy cannot be read to the end
 * @throws LogRewrittenError if the writer moved or deleted records during the copy; the copy must then be repeated
 */
export async function copyLog(
  folder: string,
  target: string,
  options: Pick<VerifyLogOptions, 'onBytesRead' | 'signal'> = {},
): Promise<LogVerification> {
  const { position, crc, end, damage } = await verifyLog(nodeLogFiles, folder, options);
  if (damage !== null) throw damage;
  createFolderDurably(target);
  if (end !== null) {
    const last = basename(end.file);
    for (const first of segmentFirstSequences(nodeLogFiles.listNames(folder))) {
      const name = segmentFileName(first);
      // File names ascend with record positions, so segments with greater names contain only later records.
      if (name > last) break;
      const bytes = name === last ? end.offset : Number.POSITIVE_INFINITY;
      await copySegmentFile(join(folder, name), join(target, name), bytes, options);
    }
    fsyncPath(target);
    // With an end mark, a damaged last record is reported as damage.
    if (end.offset > segmentHeaderBytes) {
      writeSegment(target, { firstSequence: position + 1, previousCrc: crc }, []);
    }
  }
  fsyncPath(dirname(target));
  const copied = await verifyLog(nodeLogFiles, target, options);
  if (copied.damage !== null) throw copied.damage;
  return copied;
}

async function copySegmentFile(
  from: string,
  to: string,
  bytes: number,
  { onBytesRead, signal }: Pick<VerifyLogOptions, 'onBytesRead' | 'signal'>,
): Promise<void> {
  const source = openForCopy(from);
  const copy = openSync(to, 'wx', 0o600);
  try {
    const chunk = Buffer.allocUnsafe(bounds.logReadChunkBytes);
    for (let offset = 0; offset < bytes; ) {
      const read = readSync(source, chunk, 0, Math.min(chunk.length, bytes - offset), offset);
      if (read === 0) break;
      for (let written = 0; written < read; ) written += writeSync(copy, chunk, written, read - written);
      offset += read;
      onBytesRead?.(read);
      await nextTurn();
      signal?.throwIfAborted();
    }
    fsyncSync(copy);
  } finally {
    closeSync(source);
    closeSync(copy);
  }
}

function openForCopy(segment: string): number {
  try {
    return openSync(segment, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    throw new LogRewrittenError(`${segment} was deleted by the writer of the log`, { cause: error });
  }
}
