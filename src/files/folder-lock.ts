import { join } from 'node:path';
import Database from 'better-sqlite3';
import { OperatorError } from '../domain/operator-error.ts';
import { createPrivateFile } from './private-files.ts';

/** Another opener, in this process or another, has the folder. */
export class FolderInUseError extends OperatorError {
  override readonly name = 'FolderInUseError';
}

export interface FolderLock {
  /** Idempotent. */
  release(): void;
}

/** A connection nobody refers to is collected and lets its lock go, so those that hold one are referred to from here. */
const openLockConnections = new Set<Database.Database>();

/**
 * Takes a folder for one opener until it lets go or dies. It is a lock of the kernel, which ends with its process however
 * that ends; SQLite adds that two openers of the same process exclude each other too, which plain POSIX locks do not.
 *
 * @throws FolderInUseError
 */
export function lockFolder(folder: string): FolderLock {
  const path = join(folder, 'lock');
  // Whoever may read it may lock it, too, and keep us out.
  createPrivateFile(path);
  const database = new Database(path, { timeout: 0 });
  try {
    // Nothing is ever written, so there is nothing to roll back and no journal file to leave behind.
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
