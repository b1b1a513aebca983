import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';

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

/**
 * Creates an empty file that only the owner can read, whatever the umask is, unless the file exists. SQLite creates its additional files
 * with the same permissions. Throws the system's error.
 */
export function createPrivateFile(path: string): void {
  let file: number;
  try {
    // An existing file must not be opened: closing any descriptor of a file releases all POSIX locks of the process on that file,
    // including the locks of SQLite.
    file = openSync(path, 'wx', 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return;
    throw error;
  }
  closeSync(file);
}

/**
 * Creates a folder and its parents, accessible only to the owner. Returns the first folder that was created, or null. Throws the system's
 * error, also if the path is not a folder. Does not use `recursive` of `mkdirSync`, which never returns for a path under `/proc`
 * (Node.js 22.23).
 */
export function createPrivateFolder(folder: string): string | null {
  const absolute = resolve(folder);
  const missing: string[] = [];
  for (let path = absolute; !existsSync(path) && path !== dirname(path); path = dirname(path)) missing.unshift(path);
  for (const path of missing.length === 0 ? [absolute] : missing) {
    if (isFolder(path)) continue;
    try {
      mkdirSync(path, 0o700);
    } catch (error) {
      // Another process may have created the folder.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || !isFolder(path)) throw error;
    }
  }
  return missing[0] ?? null;
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/**
 * Removes the permissions of group and others from a folder. Returns whether the folder is private. It may not be private: the folder may
 * belong to another user, its file system may not support permissions, or it may have the sticky bit, such as `/tmp`. A folder with the
 * sticky bit is shared on purpose and left unchanged. Throws if the folder cannot be read.
 */
export function restrictFolderToOwner(folder: string): boolean {
  const { mode } = statSync(folder);
  if ((mode & groupAndOthersBits) === 0) return true;
  if ((mode & stickyBit) !== 0) return false;
  try {
    chmodSync(folder, 0o700);
  } catch {
    return false;
  }
  // A file system that does not support permissions may ignore the change.
  return (statSync(folder).mode & groupAndOthersBits) === 0;
}

const groupAndOthersBits = 0o077;
const stickyBit = 0o1000;
