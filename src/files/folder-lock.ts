import { join } from 'node:path';
import Database from 'better-sqlite3';
import { OperatorError } from '../domain/operator-error.ts';
import { createPrivateFile } from './durable-files.ts';

/** The folder is already locked, by this process or by another process. */
export class FolderInUseError extends OperatorError {
  override readonly name = 'FolderInUseError';
}

export interface FolderLock {
  /** Releases the lock. Repeated calls have no effect. */
  release(): void;
}

/** References to connections that have a lock. Without a reference, the garbage collector would close them and release the lock. */
const openLockConnections = new Set<Database.Database>();

/**
 * Locks a folder until `release` is called or the process ends. The kernel releases the lock however the process ends. SQLite also prevents
 * a second lock by the same process, which plain POSIX locks do not.
 *
 * @throws FolderInUseError
 */
export function lockFolder(folder: string): FolderLock {
  const path = join(folder, 'lock');
  // The lock file is private, because every user who can read it can lock it.
  createPrivateFile(path);
  const database = new Database(path, { timeout: 0 });
  try {
    // Nothing is written to the database, so no journal file is needed.
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
