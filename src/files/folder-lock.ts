import { join } from 'node:path';
import Database from 'better-sqlite3';
import { OperatorError } from '../domain/operator-error.ts';
import { createPrivateFile } from './durable-files.ts';

/** Error for a folder that is already locked, by this process or by another process. */
export class FolderInUseError extends OperatorError {
  override readonly name = 'FolderInUseError';
}

export interface FolderLock {
  /** Releases the lock. Repeated calls of `release` have no effect. */
  release(): void;
}

export function folderLockPath(folder: string): string {
  return join(folder, 'lock');
}

/** Database connections of all locked folders, stored here because garbage collection of a connection would release its lock. */
const openLockConnections = new Set<Database.Database>();

/**
 * Locks a folder until `release` is called or the process ends. The kernel also releases the lock if the process crashes. The lock is an
 * SQLite lock, which also prevents a second lock by the same process, unlike a plain POSIX lock.
 *
 * @throws FolderInUseError
 */
export function lockFolder(folder: string): FolderLock {
  const path = folderLockPath(folder);
  // Only the owner may read the lock file, because every user who can read the file can also lock it.
  createPrivateFile(path);
  const database = new Database(path, { timeout: 0 });
  try {
    // The database is used only as a lock and stays empty, so it needs no journal file.
    database.pragma('journal_mode = memory');
    database.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    database.close();
    if (error instanceof Database.SqliteError && error.code.startsWith('SQLITE_BUSY')) {
      throw new FolderInUseError(`${folder} is in use by another instance of this service; stop it first`, {
        cause: error,
      });
    }
    throw error;
  }
  openLockConnections.add(database);
  return {
    release: () => {
      openLockConnections.delete(database);
      database.close();
    },
  };
}
