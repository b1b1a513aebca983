import { closeSync, constants, fstatSync, lstatSync, openSync, readSync, type Stats, statSync } from 'node:fs';

type ReadFileResult =
  | { readonly ok: true; readonly bytes: Buffer }
  /** `problem` follows the file name, such as `does not exist`. */
  | { readonly ok: false; readonly problem: string };

/** Flags with which the open of a named pipe does not wait for a writer. */
export const openWithoutWaiting = constants.O_RDONLY | constants.O_NONBLOCK;

/**
 * Reads a file that an operator provides. Follows links. Fails if the path is not a regular file, is larger than `bytesMax` bytes, or cannot
 * be read. Never blocks on a named pipe, and never opens a device.
 */
export function readRegularFile(path: string, bytesMax: number): ReadFileResult {
  const problem = findFileProblem(path);
  if (problem !== null) return { ok: false, problem };
  let file: number | null = null;
  try {
    file = openSync(path, openWithoutWaiting);
    const stats = fstatSync(file);
    // Another file may have replaced the file since `findFileProblem`.
    const typeProblem = findFileTypeProblem(stats);
    if (typeProblem !== null) return { ok: false, problem: typeProblem };
    if (stats.size > bytesMax) return { ok: false, problem: tooLargeProblem(bytesMax) };
    const bytes = readUpTo(file, stats.size, bytesMax + 1);
    return bytes.length > bytesMax ? { ok: false, problem: tooLargeProblem(bytesMax) } : { ok: true, bytes };
  } catch (error) {
    return { ok: false, problem: describeOpenError(path, error) };
  } finally {
    if (file !== null) closeSync(file);
  }
}

/** Returns the reason why a path is not a regular file, phrased to follow the path, or null. Does not open the file. */
export function findFileProblem(path: string): string | null {
  try {
    return findFileTypeProblem(statSync(path));
  } catch (error) {
    return describeOpenError(path, error);
  }
}

/** Returns a phrase such as `is a folder` for anything but a regular file, otherwise null. */
export function findFileTypeProblem(stats: Stats): string | null {
  if (stats.isFile()) return null;
  if (stats.isDirectory()) return 'is a folder';
  if (stats.isFIFO()) return 'is a named pipe';
  return stats.isSocket() ? 'is a socket' : 'is a device';
}

/** Describes the error of a system call that opens a file, phrased to follow the path. */
export function describeOpenError(path: string, error: unknown): string {
  const { code = 'unknown error' } = error as NodeJS.ErrnoException;
  if (code === 'ELOOP') return 'is a link that leads to itself';
  if (code !== 'ENOENT') return `cannot be read (${code})`;
  return isMissing(path) ? 'does not exist' : 'is a link to a file that does not exist';
}

/** Whether a path does not exist. A link to a missing file is not missing, because the file may appear later. */
export function isMissing(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) === undefined;
}

export function tooLargeProblem(bytesMax: number): string {
  return `is larger than ${bytesMax} bytes`;
}

/** Reads a file to its end, but at most `bytesMax` bytes, because the file may grow. `sizeHint` is the expected size. */
function readUpTo(file: number, sizeHint: number, bytesMax: number): Buffer {
  let bytes = Buffer.allocUnsafe(Math.min(sizeHint + 1, bytesMax));
  let length = 0;
  for (;;) {
    const count = readSync(file, bytes, length, bytes.length - length, null);
    length += count;
    if (count === 0 || length === bytesMax) return bytes.subarray(0, length);
    if (length < bytes.length) continue;
    bytes = Buffer.concat([bytes], Math.min(2 * length + 1, bytesMax));
  }
}
