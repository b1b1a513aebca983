import { chmodSync, closeSync, existsSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

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
