import { rmSync } from 'node:fs';
import Database, { type Statement } from 'better-sqlite3';
import { bounds } from '../bounds.ts';
import { createPrivateFile } from '../files/private-files.ts';
import { widgetEventTypes } from '../ledger/ledger-record.ts';

/**
 * Raised whenever the tables or the counting rules change: a store of another format is dropped and derived again from the
 * ledger, so there are no migrations.
 */
const schemaVersion = 4;

/**
 * Everything here is derived from the ledger, and from the sealed figures of what is no longer in it. Figures are kept by
 * cohort: the UTC day of the session's creation (docs/contract.md#cohorts).
 *
 * - An experiment is one referrer tag of one account, vertical and mode, so figures of two tenants cannot mix (docs/contract.md#tenants).
 * - Money is in integer micro-dollars. The sum of squares of the confirmed revenue per session is in integer cents squared:
 *   integers add up to the same sum in whatever order, so that counters derived twice are identical.
 * - A session is found by its sub_id, whose time comes first: inserts stay at the right edge. Account, vertical, mode, shard
 *   and day are inside it and not repeated. `position` is its place in the ledger, and its name in `click` and `session_metadata`.
 * - `cohort_piece` lists the sessions of one experiment and day in ledger order, so that a page of rows reads those and no
 *   others, wherever in the history it lies. A piece holds the ids of some sessions of one batch, end to end; an index entry
 *   for each session would cost the aggregator a fifth of its speed. The day comes first, so that what is written together
 *   lies together.
 * - A payout is what a lender owes for a click, by `txid` (docs/contract.md#confirmations); the reversal columns are null until it is
 *   taken back.
 * - `ledger_segment` says which of the ledger's segments tell of new sessions, and of which day the last of them are.
 * - `shown` holds offer numbers as LEB128 varints, in the order of first showing; null for none.
 * - What widgets told is counted for each session, as LEB128 varints in the order of `widgetEventTypes`, null for nothing, and
 *   in a table of its own by day: most sessions have no widget, and pay a byte each and no row.
 */
const createTablesSql = `
  CREATE TABLE progress (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    position INTEGER NOT NULL, segment INTEGER NOT NULL, "offset" INTEGER NOT NULL, crc INTEGER NOT NULL,
    last_wall_ms INTEGER,
    records INTEGER NOT NULL, sealed_session INTEGER NOT NULL, malformed INTEGER NOT NULL, unknown_session INTEGER NOT NULL, repeated_session INTEGER NOT NULL,
    unshown_clicks INTEGER NOT NULL, duplicate_clicks INTEGER NOT NULL, late_clicks INTEGER NOT NULL,
    repeated_confirmations INTEGER NOT NULL, unsound_confirmations INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE retention (one INTEGER PRIMARY KEY CHECK (one = 1), kept_from_day INTEGER NOT NULL) STRICT;
  INSERT INTO retention VALUES (1, 0);

  CREATE TABLE ledger_segment (first INTEGER PRIMARY KEY, last_day INTEGER NOT NULL) STRICT;

  CREATE TABLE experiment (
    number INTEGER PRIMARY KEY,
    account INTEGER NOT NULL, vertical INTEGER NOT NULL, test INTEGER NOT NULL, tag TEXT NOT NULL,
    UNIQUE (account, vertical, test, tag)
  ) STRICT;

  CREATE TABLE offer (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE) STRICT;

  CREATE TABLE lender (number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;

  CREATE TABLE session (
    sub BLOB PRIMARY KEY,
    experiment INTEGER NOT NULL, position INTEGER NOT NULL, device INTEGER NOT NULL, views INTEGER NOT NULL,
    clicks INTEGER NOT NULL, shown BLOB, last_event_ms INTEGER NOT NULL, widget_events BLOB
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE cohort_piece (
    day INTEGER NOT NULL, experiment INTEGER NOT NULL, last_position INTEGER NOT NULL, first_position INTEGER NOT NULL,
    subs BLOB NOT NULL,
    PRIMARY KEY (day, experiment, last_position)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE session_metadata (session INTEGER PRIMARY KEY, json TEXT NOT NULL) STRICT;

  CREATE TABLE click (
    session INTEGER NOT NULL, offer INTEGER NOT NULL, lender INTEGER NOT NULL, clicked_ms INTEGER NOT NULL,
    attributed_micros INTEGER NOT NULL, confirmed_micros INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (session, offer)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE payout (
    session INTEGER NOT NULL, offer INTEGER NOT NULL, txid TEXT NOT NULL,
    funded_micros INTEGER NOT NULL, funded_ms INTEGER NOT NULL, reversed_micros INTEGER, reversed_ms INTEGER,
    PRIMARY KEY (session, offer, txid)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE day_counter (
    experiment INTEGER NOT NULL, day INTEGER NOT NULL, device INTEGER NOT NULL,
    sessions INTEGER NOT NULL, views INTEGER NOT NULL, clicks INTEGER NOT NULL, attributed_micros INTEGER NOT NULL,
    confirmed_micros INTEGER NOT NULL DEFAULT 0, confirmed_cents_squared INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (experiment, day, device)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE widget_counter (
    experiment INTEGER NOT NULL, day INTEGER NOT NULL, device INTEGER NOT NULL,
    ${widgetEventTypes.map((type) => `${type} INTEGER NOT NULL`).join(', ')},
    PRIMARY KEY (experiment, day, device)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE lender_counter (
    experiment INTEGER NOT NULL, day INTEGER NOT NULL, lender INTEGER NOT NULL,
    clicks INTEGER NOT NULL, confirmed_micros INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (experiment, day, lender)
  ) STRICT, WITHOUT ROWID;
`;

/** The store was written by a version that counts or keeps otherwise: it has to be derived again. */
export class StoreVersionMismatch extends Error {
  override readonly name = 'OtherStoreFormat';
}

/** Opens the store's file, creating its tables in an empty one. Throws `StoreVersionMismatch`. */
export function openAnalyticsDatabase(file: string): Database.Database {
  createPrivateFile(file);
  const database = new Database(file);
  try {
    database.pragma('journal_mode = WAL');
    // The store follows the ledger: what a power cut takes from it is folded again. Its file stays whole either way.
    database.pragma('synchronous = NORMAL');
    // A page that many batches touch is copied from the write-ahead log into the file once for all of them.
    database.pragma(`wal_autocheckpoint = ${bounds.analyticsStoreCheckpointPages}`);
    database.pragma(`cache_size = -${bounds.analyticsStoreCacheKibibytes}`);
    const empty = database.prepare('SELECT count(*) FROM sqlite_schema').pluck().get() === 0;
    if (empty) {
      database.transaction(() => {
        database.exec(createTablesSql);
        database.pragma(`user_version = ${schemaVersion}`);
      })();
    } else assertSchemaVersion(database);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Opens a store that is there, and may be in use, without the means to change it. Throws `StoreVersionMismatch`. */
export function openAnalyticsDatabaseReadOnly(file: string): Database.Database {
  const database = new Database(file, { readonly: true, fileMustExist: true });
  try {
    assertSchemaVersion(database);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

function assertSchemaVersion(database: Database.Database): void {
  const format = database.pragma('user_version', { simple: true });
  if (format === schemaVersion) return;
  throw new StoreVersionMismatch(`the analytics store has format ${format}, this version writes ${schemaVersion}`);
}

/** Removes the store's files; it must be closed. */
export function deleteAnalyticsDatabase(file: string): void {
  for (const suffix of ['', '-wal', '-shm']) rmSync(file + suffix, { force: true });
}

/** Whether SQLite found its own file broken. */
export function isDatabaseCorrupt(error: unknown): error is Error {
  if (!(error instanceof Database.SqliteError)) return false;
  return error.code.startsWith('SQLITE_CORRUPT') || error.code.startsWith('SQLITE_NOTADB');
}

/** Rows one statement writes. The aggregator folds an eighth to a fifth more records than with one each; more rows gain little. */
const rowsPerStatement = 8;

export type SqlValue = number | bigint | string | Uint8Array | null;

/** Writes many rows of one table with few statements, in the order they come. */
export class RowWriter {
  readonly #insertMany: Statement<[SqlValue[]]>;
  readonly #insertOne: Statement<[SqlValue[]]>;
  readonly #columnCount: number;
  #pendingValues: SqlValue[] = [];

  /** @param conflict what happens to a row that exists: an `ON CONFLICT` clause, or nothing. */
  constructor(database: Database.Database, table: string, columns: readonly string[], conflict = '') {
    const row = `(${columns.map(() => '?').join(', ')})`;
    const insert = (rows: number) =>
      `INSERT INTO ${table} (${columns.join(', ')}) VALUES ${Array(rows).fill(row).join(', ')} ${conflict}`;
    this.#insertMany = database.prepare<[SqlValue[]]>(insert(rowsPerStatement));
    this.#insertOne = database.prepare<[SqlValue[]]>(insert(1));
    this.#columnCount = columns.length;
  }

  /** Writes these rows, and those added before. */
  writeAll(rows: Iterable<readonly SqlValue[]>): void {
    for (const row of rows) this.add(row);
    this.flush();
  }

  /** Takes a row; it is written with the next few, or by `flush`. */
  add(row: readonly SqlValue[]): void {
    this.#pendingValues.push(...row);
    if (this.#pendingValues.length < rowsPerStatement * this.#columnCount) return;
    this.#insertMany.run(this.#pendingValues);
    this.#pendingValues = [];
  }

  flush(): void {
    const width = this.#columnCount;
    const values = this.#pendingValues;
    this.#pendingValues = [];
    for (let at = 0; at < values.length; at += width) this.#insertOne.run(values.slice(at, at + width));
  }
}

/** Lists of counts and of offer numbers as the store keeps them: LEB128 varints, so that most numbers take a byte or two. */
export function encodeVarints(numbers: readonly number[]): Uint8Array | null {
  if (numbers.length === 0) return null;
  const bytes: number[] = [];
  for (const number of numbers) {
    let rest = number;
    while (rest >= 0x80) {
      bytes.push((rest % 0x80) | 0x80);
      rest = Math.floor(rest / 0x80);
    }
    bytes.push(rest);
  }
  return Buffer.from(bytes);
}

export function decodeVarints(bytes: Uint8Array | null): number[] {
  const numbers: number[] = [];
  let number = 0;
  let scale = 1;
  for (const byte of bytes ?? []) {
    number += (byte & 0x7f) * scale;
    scale *= 0x80;
    if (byte < 0x80) {
      numbers.push(number);
      number = 0;
      scale = 1;
    }
  }
  return numbers;
}
