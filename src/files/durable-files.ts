import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { createPrivateFolder } from './private-files.ts';

/** Whether an error of the system or of SQLite means that the device is full, a quota is exceeded, or a file is too large. */
export function isDiskFull(error: unknown): boolean {
  return error instanceof Error && diskFullCodes.has((error as NodeJS.ErrnoException).code ?? '');
}

const diskFullCodes: ReadonlySet<string> = new Set([
  'ENOSPC',
  'EDQUOT',
  'EFBIG',
  'SQLITE_FULL',
  // SQLite reports this code for the shared-memory index of a write-ahead log.
  'SQLITE_IOERR_SHMSIZE',
]);

export function diskFullMessage(folder: string): string {
  return `no space left on the device of ${folder}; free some space and try again`;
}

/** Makes the content of a file, or the file names in a folder, durable. Throws the system's error. */
export function fsyncPath(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Creates a folder and its parents, accessible only to the owner, and makes their names durable. Existing parents are also synced, because
 * the process that created them may have crashed before its sync. Throws the system's error.
 */
export function createFolderDurably(folder: string): void {
  const absolute = resolve(folder);
  const firstCreated = createPrivateFolder(absolute);
  const isNew = (path: string) => firstCreated !== null && path.length >= firstCreated.length;
  for (let path = absolute; path !== dirname(path); path = dirname(path)) {
    try {
      fsyncPath(dirname(path));
    } catch (error) {
      // Syncing an existing parent may fail, because it is unreadable or its file system does not support the sync.
      if (isNew(path) || !unsyncableCodes.has((error as NodeJS.ErrnoException).code ?? '')) throw error;
    }
  }
}

const unsyncableCodes: ReadonlySet<string> = new Set(['EACCES', 'EPERM', 'EINVAL', 'ENOTSUP']);

/**
 * Replaces a file atomically and durably: writes a temporary file, syncs it, renames it, and syncs the folder. Only the owner can read the
 * file. A generator can provide content that is too large for memory. Throws the error of the system or of the generator. The file is then
 * unchanged, unless only the last sync failed.
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
    // Errors of operations on a file descriptor do not contain the path.
    if (error instanceof Error && 'syscall' in error) throw Object.assign(error, { path: temporary });
    throw error;
  } finally {
    closeSync(file);
  }
  renameSync(temporary, path);
  fsyncPath(dirname(path));
}
