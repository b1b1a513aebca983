import { existsSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { bounds } from '../bounds.ts';
import { firstAccountNumber, homeShard } from '../domain/home-shard.ts';
import { OperatorError } from '../domain/operator-error.ts';
import type { KeyFileNumbers } from '../files/data-inventory.ts';
import { copySqliteFile, openSqliteFile, type SqliteFileFormat } from '../files/shared-database.ts';
import type { KeyLimitOverrides } from './rate-limits.ts';

/**
 * Schema of the key file (docs/contract.md#api-keys), a SQLite database that the command line writes and a running server polls. Numbers of
 * accounts and keys are never reused, so a number in the ledger always identifies the same account or key. AUTOINCREMENT ensures this for
 * keys, and the table `shards` for accounts.
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
  `
  -- Operations that a key may use. The scope of a key never changes.
  ALTER TABLE keys ADD COLUMN scope TEXT NOT NULL DEFAULT 'full' CHECK (scope IN ('full', 'analytics'));

  -- During an upgrade, a server of an earlier release may have the key file open. It does not know scopes, and would accept every key
  -- whose hash it finds in changes.hash. So changes.hash is null for a key with another scope than full, and that server rejects the key.
  ALTER TABLE changes ADD COLUMN scoped_hash BLOB;
  CREATE TRIGGER scoped_key_changed AFTER INSERT ON changes
  WHEN EXISTS (SELECT 1 FROM keys WHERE hash = new.hash AND scope <> 'full') BEGIN
    UPDATE changes SET hash = NULL, scoped_hash = hash WHERE number = new.number;
  END;
`,
  `
  -- Finds the keys of one account in the order of their numbers.
  CREATE INDEX keys_by_account ON keys (account);
`,
  `
  -- Highest account number that each shard has assigned. The upper 16 bits of an account number are the shard, and the lower 16 bits count
  -- from 1. Earlier releases counted without shards. \`started\` is 1 once the shard has opened its ledger in a folder with several shards.
  CREATE TABLE shards (
    number INTEGER PRIMARY KEY CHECK (number BETWEEN 0 AND 65535),
    last_account INTEGER NOT NULL CHECK (last_account >> 16 = number),
    started INTEGER NOT NULL DEFAULT 0 CHECK (started IN (0, 1))
  ) STRICT;
  INSERT INTO shards (number, last_account)
    WITH RECURSIVE shard (number, last_number) AS (
      SELECT 0, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'accounts'), 0)
      UNION ALL SELECT number + 1, last_number FROM shard WHERE last_number >= (number + 1) << 16
    )
    SELECT number, min(last_number, (number << 16) + 65535) FROM shard;
  CREATE TRIGGER account_added AFTER INSERT ON accounts BEGIN
    UPDATE shards SET last_account = max(last_account, new.number) WHERE number = new.number >> 16;
  END;

  -- Shard of an account, or of one vertical and mode of an account, if it is not the upper 16 bits of the account number. The vertical and
  -- mode are encoded as in a sub_id; NULL stands for all. The row of a vertical and mode takes precedence.
  CREATE TABLE placements (
    account INTEGER NOT NULL REFERENCES accounts (number),
    vertical_and_mode INTEGER CHECK (vertical_and_mode BETWEEN 0 AND 255),
    shard INTEGER NOT NULL REFERENCES shards (number)
  ) STRICT;
  CREATE UNIQUE INDEX placement ON placements (account, coalesce(vertical_and_mode, -1));

  -- Earlier releases assigned these numbers without shards.
  INSERT INTO placements SELECT number, NULL, 0 FROM accounts WHERE number > 65535;
  INSERT INTO changes (account) SELECT account FROM placements;

  -- A change of an account stands for its origins and its placements.
  CREATE TRIGGER placement_added AFTER INSERT ON placements BEGIN
    INSERT INTO changes (account) VALUES (new.account);
  END;
  CREATE TRIGGER placement_changed AFTER UPDATE ON placements BEGIN
    INSERT INTO changes (account) SELECT old.account UNION SELECT new.account;
  END;
  CREATE TRIGGER placement_deleted AFTER DELETE ON placements BEGIN
    INSERT INTO changes (account) VALUES (old.account);
  END;
`,
] as const;

/** Error for a key file that cannot be opened or was written by a newer version. The error message is one line. */
export class KeyFileError extends OperatorError {
  override readonly name = 'KeyFileError';
}

export function keyFilePath(dataDir: string): string {
  return join(dataDir, 'keys.sqlite');
}

/**
 * Opens the key file. If the key file does not exist, creates the file and its folder, unless `mustExist` is true. Several processes may
 * open the file at the same time. Throws `KeyFileError` if the file cannot be opened.
 *
 * @param waitMs maximum time in milliseconds that one statement blocks the thread while another process locks the key file
 */
export function openKeyFile(path: string, waitMs: number, mustExist = false): Database.Database {
  if (mustExist && !existsSync(path)) throw new KeyFileError(`key file ${path} does not exist; create a key first`);
  return openSqliteFile(path, format, waitMs);
}

const format: SqliteFileFormat = {
  name: 'key file',
  migrations,
  createError: (message, options) => new KeyFileError(message, options),
};

interface KeyFileWriterOptions {
  /** Whether the key file must exist. By default, the file is created if it does not exist. */
  readonly mustExist?: boolean;
  /**
   * Maximum time in milliseconds that a change blocks the thread while another process writes. After `waitMs`, the change throws an error
   * for which `isSqliteFileBusy` returns true.
   */
  readonly waitMs?: number;
  /** Called after each change through this connection. */
  readonly onChanged?: () => void;
}

/** A database connection that changes the key file. A committed change survives a power failure. */
export class KeyFileWriter {
  protected readonly database: Database.Database;
  protected readonly onChanged: () => void;

  /** Opens the key file. Throws `KeyFileError` if the file cannot be opened. */
  constructor(
    path: string,
    { mustExist, waitMs = bounds.apiKeyCommandLockTimeoutMs, onChanged = () => {} }: KeyFileWriterOptions = {},
  ) {
    this.onChanged = onChanged;
    this.database = openKeyFile(path, bounds.apiKeyCommandLockTimeoutMs, mustExist);
    this.database.pragma(`busy_timeout = ${waitMs}`);
    this.database.pragma('synchronous = FULL');
    this.database.pragma('foreign_keys = ON');
  }

  /** Reads the highest numbers that the key file has assigned. */
  readNumbers(): KeyFileNumbers {
    return selectKeyFileNumbers(this.database);
  }

  /** Closes the key file. Repeated calls have no effect. */
  close(): void {
    this.database.close();
  }

  protected findAccountNumberByName(name: string): number | undefined {
    return this.database.prepare<[string], number>('SELECT number FROM accounts WHERE name = ?').pluck().get(name);
  }
}

/** SQL columns of the limits of a key, with the property names of `KeyLimitOverrides`. */
export const keyLimitColumnsSql = `requests_per_minute AS requestsPerMinute, analytics_per_minute AS analyticsPerMinute,
  sessions_per_day AS sessionsPerDay`;

export function extractLimits<Row extends KeyLimitOverrides>(row: Row) {
  const { requestsPerMinute, analyticsPerMinute, sessionsPerDay, ...others } = row;
  return { limits: { requestsPerMinute, analyticsPerMinute, sessionsPerDay }, ...others };
}

/** Reads the highest numbers that an existing key file has assigned. Throws `KeyFileError` if the file cannot be read. */
export function readKeyFileNumbers(path: string): KeyFileNumbers {
  return withKeyFile(path, (database) => selectKeyFileNumbers(database));
}

/**
 * Lists the registered shards, in ascending order; none if the key file is missing or of an earlier release. Does not change the key file.
 * Throws `KeyFileError`.
 */
export function listRegisteredShards(path: string): number[] {
  if (!existsSync(path)) return [];
  let database: Database.Database | undefined;
  try {
    database = new Database(path, { readonly: true, timeout: bounds.apiKeyCommandLockTimeoutMs });
    const hasShards = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'shards'").get() !== undefined;
    if (!hasShards) return [];
    return database.prepare<[], number>('SELECT number FROM shards WHERE started = 1 ORDER BY number').pluck().all();
  } catch (error) {
    if (!(error instanceof Database.SqliteError)) throw error;
    throw new KeyFileError(`cannot read the key file ${path}: ${error.message}`, { cause: error });
  } finally {
    database?.close();
  }
}

/** Returns the number of shards that the key file knows: 1 unless `registerShard` added others. Throws `KeyFileError`. */
export function readShardCount(path: string): number {
  return (listRegisteredShards(path).at(-1) ?? 0) + 1;
}

/**
 * Stores that a shard has opened its ledger. Afterwards, new accounts are assigned to it, and the loss of its folder is found. Creates the
 * key file if it does not exist. Throws `KeyFileError`.
 */
export function registerShard(path: string, shard: number): void {
  changeKeyFile(path, (database) => {
    database
      .prepare<[number, number]>(
        `INSERT INTO shards (number, last_account, started) VALUES (?, ?, 1)
         ON CONFLICT (number) DO UPDATE SET started = 1 WHERE started = 0`,
      )
      .run(shard, firstAccountNumber(shard) - 1);
  });
}

/**
 * Whether an existing key file is a copy of the key file with these keys: it contains none of the numbers with another ID. Throws
 * `KeyFileError` if the file cannot be read.
 */
export function hasKnownKeys(path: string, knownKeys: KeyFileNumbers['knownKeys']): boolean {
  return withKeyFile(path, (database) => {
    const selectId = database.prepare<[number], string>('SELECT id FROM keys WHERE number = ?').pluck();
    const { key } = selectKeyFileNumbers(database);
    return knownKeys.every(([number, id]) => number > key || selectId.get(number) === id);
  });
}

function selectKeyFileNumbers(database: Database.Database): KeyFileNumbers {
  const selectNumber = (sql: string): number => database.prepare<[], number | null>(sql).pluck().get() ?? 0;
  return {
    accounts: database
      .prepare<[], number>('SELECT last_account FROM shards WHERE last_account & 65535 > 0 ORDER BY number')
      .pluck()
      .all(),
    key: selectNumber("SELECT seq FROM sqlite_sequence WHERE name = 'keys'"),
    change: selectNumber('SELECT max(number) FROM changes'),
    knownKeys: database
      .prepare<[], [number, string]>(
        'SELECT number, id FROM keys WHERE number IN (SELECT min(number) FROM keys UNION SELECT max(number) FROM keys)',
      )
      .raw()
      .all(),
  };
}

/** Opens an existing key file for the call of `use`. Throws `KeyFileError` instead of SQLite errors. */
function withKeyFile<Result>(path: string, use: (database: Database.Database) => Result, access = 'read'): Result {
  const database = openKeyFile(path, bounds.apiKeyCommandLockTimeoutMs, access === 'read');
  try {
    return use(database);
  } catch (error) {
    if (!(error instanceof Database.SqliteError)) throw error;
    throw new KeyFileError(`cannot ${access} the key file ${path}: ${error.message}`, { cause: error });
  } finally {
    database.close();
  }
}

/** Changes the key file in one durable transaction. Creates the key file if it does not exist. Throws `KeyFileError`. */
function changeKeyFile(path: string, change: (database: Database.Database) => void): void {
  const changeDurably = (database: Database.Database) => {
    database.pragma('synchronous = FULL');
    database.transaction(() => change(database)).immediate();
  };
  withKeyFile(path, changeDurably, 'change');
}

/**
 * Raises the highest assigned numbers of the key file, so that new accounts and keys get higher numbers. Creates the key file if it does not
 * exist. Throws `KeyFileError`.
 */
export function raiseKeyFileNumbers(path: string, { accounts, key, change }: Omit<KeyFileNumbers, 'knownKeys'>): void {
  changeKeyFile(path, (database) => {
    const stored = selectKeyFileNumbers(database);
    const raise = database.prepare<[number, number]>(
      `INSERT INTO shards (number, last_account) VALUES (?, ?)
       ON CONFLICT DO UPDATE SET last_account = max(last_account, excluded.last_account)`,
    );
    for (const account of accounts) raise.run(homeShard(account), account);
    if (key > stored.key) {
      database.prepare("DELETE FROM sqlite_sequence WHERE name = 'keys'").run();
      database.prepare("INSERT INTO sqlite_sequence (name, seq) VALUES ('keys', ?)").run(key);
    }
    // A change without a key and an account changes nothing.
    if (change > stored.change) database.prepare('INSERT INTO changes (number) VALUES (?)').run(change);
  });
}

/**
 * Copies a consistent snapshot of the key file. Other processes may use the file during the copy. Throws `KeyFileError` if the file cannot
 * be opened.
 */
export async function copyKeyFile(path: string, target: string): Promise<void> {
  const database = openKeyFile(path, bounds.apiKeyCommandLockTimeoutMs, true);
  try {
    await copySqliteFile(database, target);
  } finally {
    database.close();
  }
}
