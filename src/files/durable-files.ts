import {
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';

/** Whether a system error or SQLite error means that the disk is full, a quota is exceeded, or a file is too large. */
export function isDiskFullError(error: unknown): boolean {
  return error instanceof Error && diskFullCodes.has((error as NodeJS.ErrnoException).code ?? '');
}

const diskFullCodes: ReadonlySet<string> = new Set([
  'ENOSPC',
  'EDQUOT',
  'EFBIG',
  'SQLITE_FULL',
  // SQLite reports `SQLITE_IOERR_SHMSIZE` if it cannot enlarge the shared-memory index of a write-ahead log.
  'SQLITE_IOERR_SHMSIZE',
]);

export function diskFullMessage(folder: string): string {
  return `no space left on the device of ${folder}; free some space and try again`;
}

/** Syncs a file or a folder, so that the content of the file or the file names in the folder are durable. Throws a system error. */
export function fsyncPath(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Creates a folder and its parents, accessible only to the owner, and makes their names durable. Existing parent folders are also synced,
 * because the process that created them may have crashed before its sync. Throws a system error.
 */
export function createFolderDurably(folder: string): void {
  const absolute = resolve(folder);
  const firstCreated = createPrivateFolder(absolute);
  const isNew = (path: string) => firstCreated !== null && path.length >= firstCreated.length;
  for (let path = absolute; path !== dirname(path); path = dirname(path)) {
    try {
      fsyncPath(dirname(path));
    } catch (error) {
      // The sync of an existing parent folder may fail if the folder is unreadable or its file system does not support syncs.
      if (isNew(path) || !unsyncableCodes.has((error as NodeJS.ErrnoException).code ?? '')) throw error;
    }
  }
}

const unsyncableCodes: ReadonlySet<string> = new Set(['EACCES', 'EPERM', 'EINVAL', 'ENOTSUP']);

/**
 * Replaces a file atomically and durably: writes a temporary file, syncs it, renames it, and syncs the folder. Only the owner can read the
 * new file. Content that is too large for memory can be passed as a generator. Throws system errors, and errors that the generator throws.
 * After an error, the file has its old content, unless only the sync of the folder failed.
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
    // An error of an operation on a file descriptor does not contain the path, so the path is added.
    if (error instanceof Error && 'syscall' in error) throw Object.assign(error, { path: temporary });
    throw error;
  } finally {
    closeSync(file);
  }
  renameSync(temporary, path);
  fsyncPath(dirname(path));
}

/** As `writeFileDurably`, but does not block the event loop while the file is written and synced. */
export async function writeFileDurablyInBackground(path: string, content: string): Promise<void> {
  const temporary = `${path}.new`;
  try {
    const file = await open(temporary, 'w', 0o600);
    try {
      await file.writeFile(content);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  const folder = await open(dirname(path), 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/** Creates a hard link to a file. Returns false if this is not possible, for example because the folders are on different file systems. */
export function tryLink(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch {
    return false;
  }
}

/**
 * Replaces a file that has several hard links by a copy, so that a change of the file changes no other folder: backups with a common base
 * share files. Does nothing if the file is missing. Throws a system error.
 */
export function separateHardLinks(path: string): void {
  if ((statSync(path, { throwIfNoEntry: false })?.nlink ?? 1) === 1) return;
  const temporary = `${path}.new`;
  copyFileSync(path, temporary, constants.COPYFILE_FICLONE);
  fsyncPath(temporary);
  renameSync(temporary, path);
  fsyncPath(dirname(path));
}

/**
 * Creates an empty file that only the owner can read, whatever the umask is. Does nothing if the file exists. SQLite gives the additional
 * files of a database the permissions of the database file. Throws a system error.
 */
export function createPrivateFile(path: string): void {
  let file: number;
  try {
    // The flag `wx` opens no existing file, because closing a database file would release SQLite's POSIX locks on the file.
    file = openSync(path, 'wx', 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return;
    throw error;
  }
  closeSync(file);
}

/**
 * Creates a folder and its parents, accessible only to the owner. Returns the first folder that was created, or null. Throws a system
 * error, for example if the path is a file. The option `recursive` of `mkdirSync` is not used, because with this option, a call for a path
 * under `/proc` never returns (Node.js 22.23).
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
      // Ignores EEXIST, because another process may have created the folder after `isFolder` was called.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || !isFolder(path)) throw error;
    }
  }
  return missing[0] ?? null;
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/**
 * Removes the permissions of group and others from a folder. Returns true if, after the call, only the owner can access the folder. The
 * permissions cannot be removed if the folder belongs to another user, or is on a file system without permissions. A folder with the sticky
 * bit, such as `/tmp`, is shared on purpose and left unchanged. Throws if the folder cannot be read.
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
  // `chmod` may succeed without an effect on a file system that does not support permissions.
  return (statSync(folder).mode & groupAndOthersBits) === 0;
}

const groupAndOthersBits = 0o077;
const stickyBit = 0o1000;
