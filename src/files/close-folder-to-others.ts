import { chmodSync, statSync } from 'node:fs';

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
