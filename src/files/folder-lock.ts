import { join } from 'node:path';
import Database from 'better-sqlite3';
import { OperatorError } from '../domain/operator-error.ts';
import { createPrivateFile } from './private-files.ts';

/** The folder is locked, in this process or in another. */
export class FolderInUseError extends OperatorError {
  override readonly name = 'FolderInUseError';
}

export interface FolderLock {
  /** Idempotent. */
  release(): void;
}

/** References to locked connections: the garbage collector would close them, which releases the lock. */
const openLockConnections = new Set<Database.Database>();

/**
 * Locks a folder until `release` or the end of the process. A kernel lock is released however the process ends. SQLite also excludes
 * a second lock of the same process, which plain POSIX locks do not.
 *
 * @throws FolderInUseError
 */
export function lockFolder(folder: string): FolderLock {
  const path = join(folder, 'lock');
  // Private, because every user who can read the file can lock it.
  createPrivateFile(path);
  const database = new Database(path, { timeout: 0 });
  try {
    // Nothing is written, so no journal file is needed.
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
