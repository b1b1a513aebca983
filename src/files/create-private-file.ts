import { closeSync, openSync } from 'node:fs';

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
