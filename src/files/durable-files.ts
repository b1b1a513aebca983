import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { createPrivateFolder } from './private-files.ts';

/** Whether a call of the system, or of SQLite, failed because the device has no space left, a quota is used up, or a file may not grow. */
export function isDiskFull(fault: unknown): boolean {
  return fault instanceof Error && diskFullCodes.has((fault as NodeJS.ErrnoException).code ?? '');
}

const diskFullCodes: ReadonlySet<string> = new Set([
  'ENOSPC',
  'EDQUOT',
  'EFBIG',
  'SQLITE_FULL',
  // The index of a write-ahead log, which lies beside a database while it is open.
  'SQLITE_IOERR_SHMSIZE',
]);

/** Describes a full device to the operator. */
export function diskFullMessage(folder: string): string {
  return `no space left on the device of ${folder}; make room there and try again`;
}

/** Makes durable what a file holds, or the names in a folder. Throws the error of the system. */
export function fsyncPath(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Creates a folder and what leads to it, closed to others, and makes their names durable. Also those of folders that exist:
 * whoever made them may have crashed before its sync. Throws the error of the system.
 */
export function createFolderDurably(folder: string): void {
  const absolute = resolve(folder);
  const first = createPrivateFolder(absolute);
  const made = (path: string) => first !== null && path.length >= first.length;
  for (let path = absolute; path !== dirname(path); path = dirname(path)) {
    try {
      fsyncPath(dirname(path));
    } catch (error) {
      // What was there before us may lie in a folder that is not ours to open, or on a file system that has no such sync.
      if (made(path) || !unsyncableCodes.has((error as NodeJS.ErrnoException).code ?? '')) throw error;
    }
  }
}

const unsyncableCodes: ReadonlySet<string> = new Set(['EACCES', 'EPERM', 'EINVAL', 'ENOTSUP']);

/**
 * Writes a whole file so that after a power cut it is there in full or not at all: temporary name, sync, rename, sync of the
 * folder. Nobody but its owner may read it. Content too large for memory comes in pieces. Throws the error of the system, or of
 * what makes the pieces; then the file is as it was, unless only the last sync failed.
 */
export function writeFileDurably(path: string, content: string | Uint8Array | Generator<Uint8Array, void>): void {
  const temporary = `${path}.new`;
  const file = openSync(temporary, 'w', 0o600);
  try {
    if (typeof content === 'string' || content instanceof Uint8Array) writeFileSync(file, content);
    else for (const piece of content) writeFileSync(file, piece);
    fsyncSync(file);
  } catch (error) {
    rmSync(temporary, { force: true });
    // The system does not name the file of a descriptor.
    if (error instanceof Error && 'syscall' in error) throw Object.assign(error, { path: temporary });
    throw error;
  } finally {
    closeSync(file);
  }
  renameSync(temporary, path);
  fsyncPath(dirname(path));
}
