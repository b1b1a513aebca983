import { chmodSync, closeSync, existsSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/**
 * Creates an empty file that is nobody else's to read, whatever the process's umask; leaves alone what is there. For SQLite,
 * which gives the files it puts beside its own the same permissions. Throws the error of the system.
 */
export function createPrivateFile(path: string): void {
  let file: number;
  try {
    // Only ever closed when it is new: a process that closes any descriptor of a file gives up its POSIX locks on it, and with
    // them those of SQLite on what another part of this process has open.
    file = openSync(path, 'wx', 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return;
    throw error;
  }
  closeSync(file);
}

/**
 * Creates a folder and what leads to it, for nobody else to look into, and returns the first that was missing, or null. Throws the
 * error of the system, also where something else has the name. `mkdirSync` with `recursive` never returns where a file
 * system has the parent and says that it has not, as `/proc` does (seen with Node.js 22.23).
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
      // Somebody else may have been faster.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || !isFolder(path)) throw error;
    }
  }
  return missing[0] ?? null;
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/**
 * Takes a folder from everybody but its owner, where it is open to more. Returns whether it is closed now: the folder of
 * another user may not be ours to change, some file systems have no permissions to change, and one with the sticky bit is
 * shared on purpose, such as `/tmp`, so that closing it would break others. Throws when the folder cannot be looked at.
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
  // A file system without permissions may take the change and not make it.
  return (statSync(folder).mode & groupAndOthersBits) === 0;
}

const groupAndOthersBits = 0o077;
const stickyBit = 0o1000;
