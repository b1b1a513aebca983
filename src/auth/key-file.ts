import { closeSync, existsSync, fsyncSync, openSync } from 'node:fs';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { bounds } from '../bounds.ts';
import { OperatorError } from '../domain/operator-error.ts';
import { diskFullMessage, isDiskFull } from '../files/durable-files.ts';
import { createPrivateFile, createPrivateFolder } from '../files/private-files.ts';

/**
 * The key file (docs/contract.md#api-keys): a SQLite database that the command line writes and a running server follows. Numbers are handed
 * out by AUTOINCREMENT, so that a number which stands in a ledger never comes to mean another account or key.
 *
 * A file of version n has had the first n of these steps. A step never changes once a version with it was in use; what is to
 * change becomes another step.
 */
const migrations = [
  `
  CREATE TABLE accounts (
    number INTEGER PRIMARY KEY AUTOINCREMENT CHECK (number BETWEEN 1 AND 4294967295),
    name TEXT NOT NULL UNIQUE
  ) STRICT;

  -- Times are milliseconds since the Unix epoch. Limits are NULL where the service's default applies.
  CREATE TABLE keys (
    number INTEGER PRIMARY KEY AUTOINCREMENT CHECK (number BETWEEN 1 AND 4294967295),
    id TEXT NOT NULL UNIQUE,
    account INTEGER NOT NULL REFERENCES accounts (number),
    vertical TEXT NOT NULL,
    mode TEXT NOT NULL CHECK (mode IN ('live', 'test')),
    hash BLOB NOT NULL UNIQUE CHECK (length(hash) = 32),
    created INTEGER NOT NULL,
    expires INTEGER,
    revoked INTEGER,
    requests_per_minute INTEGER CHECK (requests_per_minute > 0),
    analytics_per_minute INTEGER CHECK (analytics_per_minute > 0),
    sessions_per_day INTEGER CHECK (sessions_per_day > 0)
  ) STRICT;
`,
  `
  -- Where the widgets of an account may be embedded: origins as a browser sends them.
  CREATE TABLE embed_origins (
    account INTEGER NOT NULL REFERENCES accounts (number),
    origin TEXT NOT NULL,
    PRIMARY KEY (account, origin)
  ) STRICT, WITHOUT ROWID;
`,
  `
  -- What changed, in order, so that a running server reads that and no more: a key by its hash, or the origins of an account.
  -- Triggers write it, so that it is complete whoever makes a change. Rows are never deleted.
  CREATE TABLE changes (
    number INTEGER PRIMARY KEY,
    hash BLOB,
    account INTEGER
  ) STRICT;

  INSERT INTO changes (hash) SELECT hash FROM keys ORDER BY number;
  INSERT INTO changes (account) SELECT DISTINCT account FROM embed_origins;

  CREATE TRIGGER key_added AFTER INSERT ON keys BEGIN
    INSERT INTO changes (hash) VALUES (new.hash);
  END;
  CREATE TRIGGER key_changed AFTER UPDATE ON keys BEGIN
    INSERT INTO changes (hash) SELECT old.hash UNION SELECT new.hash;
  END;
  CREATE TRIGGER key_deleted AFTER DELETE ON keys BEGIN
    INSERT INTO changes (hash) VALUES (old.hash);
  END;
  CREATE TRIGGER origin_added AFTER INSERT ON embed_origins BEGIN
    INSERT INTO changes (account) VALUES (new.account);
  END;
  CREATE TRIGGER origin_changed AFTER UPDATE ON embed_origins BEGIN
    INSERT INTO changes (account) SELECT old.account UNION SELECT new.account;
  END;
  CREATE TRIGGER origin_deleted AFTER DELETE ON embed_origins BEGIN
    INSERT INTO changes (account) VALUES (old.account);
  END;
`,
] as const;

const schemaVersion = migrations.length;

/** The key file cannot be opened, or was written by a newer version of this program. The message is one line for people. */
export class KeyFileError extends OperatorError {
  override readonly name = 'KeyFileError';
}

export function keyFilePath(dataDir: string): string {
  return join(dataDir, 'keys.sqlite');
}

/**
 * Opens the key file, and creates it with its folder unless it must exist. Safe while other processes do the same. Throws
 * `KeyFileError`.
 *
 * @param waitMs how long one statement may wait for another process's lock, blocking this thread
 */
export function openKeyFile(path: string, waitMs: number, mustExist = false): Database.Database {
  if (mustExist && !existsSync(path)) throw new KeyFileError(`there is no key file ${path}; create a key first`);
  let database: Database.Database | undefined;
  try {
    createPrivateFolder(dirname(path));
    createPrivateFile(path);
    database = new Database(path, { timeout: waitMs });
    migrate(database, path, waitMs);
    return database;
  } catch (error) {
    database?.close();
    if (error instanceof KeyFileError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new KeyFileError(
      `cannot open the key file ${path}: ${isDiskFull(error) ? diskFullMessage(dirname(path)) : reason}`,
      {
        cause: error,
      },
    );
  }
}

/** Opens the key file for whoever writes to it. What was told to be stored must not be lost to a power cut. Throws `KeyFileError`. */
export function openWritableKeyFile(
  path: string,
  mustExist: boolean,
  waitMs: number = bounds.apiKeyCommandLockTimeoutMs,
): Database.Database {
  const database = openKeyFile(path, bounds.apiKeyCommandLockTimeoutMs, mustExist);
  database.pragma(`busy_timeout = ${waitMs}`);
  database.pragma('synchronous = FULL');
  database.pragma('foreign_keys = ON');
  return database;
}

/** Whether it failed because another process was writing for longer than one may wait. Nothing was changed then. */
export function isKeyFileBusy(fault: unknown): boolean {
  return fault instanceof Database.SqliteError && fault.code.startsWith('SQLITE_BUSY');
}

/** Whether it failed because the disk took no more. Nothing was changed then. */
export function isKeyFileUnwritable(fault: unknown): boolean {
  return isDiskFull(fault) || (fault instanceof Database.SqliteError && fault.code === 'SQLITE_IOERR_WRITE');
}

function migrate(database: Database.Database, path: string, waitMs: number): void {
  if (readSchemaVersion(database) === schemaVersion) return;
  enableWal(database, waitMs);
  database
    .transaction(() => {
      // Another process may have been here between the look above and the lock of this transaction.
      const version = readSchemaVersion(database);
      if (version > schemaVersion) {
        throw new KeyFileError(`the key file ${path} was written by a newer version of this program`);
      }
      if (version === schemaVersion) return;
      for (const step of migrations.slice(version)) database.exec(step);
      database.pragma(`user_version = ${schemaVersion}`);
    })
    .immediate();
}

/** SQLite's own timeout does not hold here: it fails at once when another process has a lock, and that may be doing the same. */
function enableWal(database: Database.Database, waitMs: number): void {
  const pause = new Int32Array(new SharedArrayBuffer(4));
  for (let waited = 0; ; waited += bounds.apiKeyWalRetryDelayMs) {
    try {
      database.pragma('journal_mode = WAL');
      return;
    } catch (error) {
      if (!isKeyFileBusy(error) || waited >= waitMs) throw error;
    }
    Atomics.wait(pause, 0, 0, bounds.apiKeyWalRetryDelayMs);
  }
}

function readSchemaVersion(database: Database.Database): number {
  return database.pragma('user_version', { simple: true }) as number;
}

/** Copies the key file as of one moment, while others may read and write it. Throws `KeyFileError`. */
export async function copyKeyFile(path: string, target: string): Promise<void> {
  // SQLite writes into the file that is there: so it is nobody else's to read from its first byte on.
  const copy = openSync(target, 'wx', 0o600);
  const database = openKeyFile(path, bounds.apiKeyCommandLockTimeoutMs, true);
  try {
    await database.backup(target);
    fsyncSync(copy);
  } finally {
    database.close();
    closeSync(copy);
  }
}
