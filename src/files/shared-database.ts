import { closeSync, fsyncSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import { bounds } from '../bounds.ts';
import { createPrivateFile, createPrivateFolder, diskFullMessage, isDiskFullError } from './durable-files.ts';

export interface SqliteFileFormat {
  /** Name of the file in error messages, such as `key file`. */
  readonly name: string;
  /**
   * SQL scripts that create the current schema. In a file with `user_version` n, the first n migrations have been applied. Never change a
   * released migration; add a new one.
   */
  readonly migrations: readonly string[];
  /** Creates the error for a file that cannot be opened or was written by a newer version. `message` is one line. */
  createError(message: string, options?: ErrorOptions): Error;
}

/**
 * Opens a SQLite file that several processes may use at the same time. If the file does not exist, creates the file and its folder. Throws
 * the error of `format.createError` if the file cannot be opened.
 *
 * @param waitMs maximum time in milliseconds that one statement blocks the thread while another process locks the file
 */
export function openSqliteFile(path: string, format: SqliteFileFormat, waitMs: number): Database.Database {
  let database: Database.Database | undefined;
  let isNewer = false;
  try {
    createPrivateFolder(dirname(path));
    createPrivateFile(path);
    database = new Database(path, { timeout: waitMs });
    isNewer = migrate(database, format.migrations, waitMs) === 'newer';
    if (!isNewer) return database;
  } catch (error) {
    database?.close();
    const message = error instanceof Error ? error.message : String(error);
    const isUnopened = error instanceof Database.SqliteError && error.code.startsWith('SQLITE_CANTOPEN');
    const reason = isUnopened ? `${message}; check that it is a file, and that its disk is not read-only` : message;
    throw format.createError(
      `cannot open the ${format.name} ${path}: ${isDiskFullError(error) ? diskFullMessage(dirname(path)) : reason}`,
      { cause: error },
    );
  }
  database.close();
  throw format.createError(`the ${format.name} ${path} was written by a newer version of this program`);
}

/** Whether an access failed because another process locked the file for too long. */
export function isSqliteFileBusy(error: unknown): boolean {
  return error instanceof Database.SqliteError && error.code.startsWith('SQLITE_BUSY');
}

/** Whether a change failed because the disk is full or not writable. A failed change does not modify the file. */
export function isSqliteFileUnwritable(error: unknown): boolean {
  return (
    isDiskFullError(error) ||
    (error instanceof Database.SqliteError && /^SQLITE_(IOERR_(WRITE|FSYNC)|READONLY)/.test(error.code))
  );
}

/**
 * Copies a consistent snapshot of an open SQLite file to a new file, durably. Other processes may use the file during the copy. Throws a
 * system error or SQLite error.
 */
export async function copySqliteFile(database: Database.Database, target: string): Promise<void> {
  // Creates the target file with private permissions before SQLite writes into it.
  const copy = openSync(target, 'wx', 0o600);
  try {
    await database.backup(target);
    fsyncSync(copy);
  } finally {
    closeSync(copy);
  }
}

function migrate(database: Database.Database, migrations: readonly string[], waitMs: number): 'current' | 'newer' {
  if (readSchemaVersion(database) === migrations.length) return 'current';
  enableWal(database, waitMs);
  return database
    .transaction(() => {
      // Reads the schema version again, because another process may have migrated the file before this transaction started.
      const version = readSchemaVersion(database);
      if (version > migrations.length) return 'newer';
      if (version === migrations.length) return 'current';
      for (const step of migrations.slice(version)) database.exec(step);
      database.pragma(`user_version = ${migrations.length}`);
      return 'current';
    })
    .immediate();
}

/**
 * Enables SQLite's write-ahead log. Retries for up to `waitMs` while the file is locked, because `busy_timeout` does not apply to the
 * pragma `journal_mode`.
 */
function enableWal(database: Database.Database, waitMs: number): void {
  const pause = new Int32Array(new SharedArrayBuffer(4));
  for (let waited = 0; ; waited += bounds.sqliteWalRetryDelayMs) {
    try {
      database.pragma('journal_mode = WAL');
      return;
    } catch (error) {
      if (!isSqliteFileBusy(error) || waited >= waitMs) throw error;
    }
    Atomics.wait(pause, 0, 0, bounds.sqliteWalRetryDelayMs);
  }
}

function readSchemaVersion(database: Database.Database): number {
  return database.pragma('user_version', { simple: true }) as number;
}
