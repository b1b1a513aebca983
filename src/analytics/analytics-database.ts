import { rmSync } from 'node:fs';
import Database, { type Statement } from 'better-sqlite3';
import { bounds } from '../bounds.ts';
import { createPrivateFile } from '../files/durable-files.ts';
import { widgetEventTypes } from '../ledger/ledger-record.ts';
import { recordCountColumns, unbookedClickColumns } from './projection-state.ts';

/**
 * Version of the tables and the counting rules. Increment this version whenever the tables or the counting rules change. A store with a
 * different version is deleted and rebuilt from the ledger and the archive, so there are no migrations.
 */
const schemaVersion = 7;

/**
 * Tables of the analytics store. All data can be computed from the ledger and the archived counters. Figures are grouped by cohort: the UTC
 * day of the session's creation (docs/contract.md#cohorts).
 *
 * - `experiment`: one referrer tag of one account, vertical and mode, so that figures of two tenants cannot mix (docs/contract.md#tenants).
 * - Money is in integer micro-dollars. The sum of squares of the confirmed revenue per session is in integer cents squared, because integer
 *   sums do not depend on their order: counters derived twice are identical.
 * - `session` is keyed by sub_id, which starts with the creation time, so inserts go to the end of the B-tree. The sub_id contains account,
 *   vertical, mode, shard and day. `position` is the ledger position of the session's creation record, and identifies the session in the
 *   tables `click`, `payout` and `session_metadata`.
 * - `cohort_piece`: sub_ids of the sessions of one experiment and day in ledger order, so that a page of sessions is read without scanning
 *   earlier sessions. One row contains the sub_ids of several sessions, because one row per session would make the aggregator 20 % slower.
 *   The primary key starts with the day, so that most rows of a batch are adjacent in the table.
 * - `click`: a counted click. `booking` is one of the numbers in `clickBookingState`. `unbooked_reasons` has one bit for each item of
 *   `unbookedReasons`. The daily counters `unbooked_...` count these bits (docs/contract.md#clicks-that-are-not-booked). `payout_micros` is
 *   the flat payout in the click's record, or null.
 * - `day_counter`: `revenue_sessions` counts the sessions with confirmed revenue. `revenue_sessions`, `first_session_ms` and
 *   `last_session_ms` (creation times) are null for days that an earlier release archived without them.
 * - `payout`: amounts that a lender owes for a click, by `txid` (docs/contract.md#confirmations). The reversal columns are null until the
 *   payout is reversed.
 * - `click_reversal`: reversals of revenue that a click confirmed itself, by their own `txid`. `reason` is an index in `reversalReasons`.
 * - `ledger_segment`: ledger segments with session creations, and the latest cohort day of these sessions.
 * - `shown`: numbers of the shown offers as LEB128 varints, in the order in which the offers were first shown; null without offers.
 * - `widget_events`: event counts as LEB128 varints, in the order of `widgetEventTypes`; null without events. Daily widget counts are in a
 *   separate table, because most sessions have no widget events.
 */
const createTablesSql = `
  CREATE TABLE progress (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    position INTEGER NOT NULL, segment INTEGER NOT NULL, "offset" INTEGER NOT NULL, crc INTEGER NOT NULL,
    last_wall_ms INTEGER,
    ${recordCountColumns.map((column) => `${column} INTEGER NOT NULL`).join(', ')}
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
    booking INTEGER NOT NULL, unbooked_reasons INTEGER NOT NULL, payout_micros INTEGER,
    PRIMARY KEY (session, offer)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE payout (
    session INTEGER NOT NULL, offer INTEGER NOT NULL, txid TEXT NOT NULL,
    funded_micros INTEGER NOT NULL, funded_ms INTEGER NOT NULL, reversed_micros INTEGER, reversed_ms INTEGER,
    PRIMARY KEY (session, offer, txid)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE click_reversal (
    session INTEGER NOT NULL, offer INTEGER NOT NULL, txid TEXT NOT NULL,
    reversed_micros INTEGER NOT NULL, reversed_ms INTEGER NOT NULL, reason INTEGER NOT NULL,
    PRIMARY KEY (session, offer, txid)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE day_counter (
    experiment INTEGER NOT NULL, day INTEGER NOT NULL, device INTEGER NOT NULL,
    sessions INTEGER NOT NULL, views INTEGER NOT NULL, clicks INTEGER NOT NULL, attributed_micros INTEGER NOT NULL,
    confirmed_micros INTEGER NOT NULL DEFAULT 0, confirmed_cents_squared INTEGER NOT NULL DEFAULT 0,
    revenue_sessions INTEGER, first_session_ms INTEGER, last_session_ms INTEGER,
    ${unbookedClickColumns.map((column) => `${column} INTEGER NOT NULL`).join(', ')},
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

/** Error for a store with a different schema version, which must be rebuilt. */
export class StoreVersionMismatchError extends Error {
  override readonly name = 'StoreVersionMismatchError';
}

/** Opens the store for writing. Creates the tables if the file is new. Throws `StoreVersionMismatchError`. */
export function openAnalyticsDatabase(file: string): Database.Database {
  createPrivateFile(file);
  return closeOnError(new Database(file), (database) => {
    database.pragma('journal_mode = WAL');
    // A power cut may undo the last commits but does not corrupt the file. `LedgerFollower` then applies the ledger records of the undone
    // commits again.
    database.pragma('synchronous = NORMAL');
    // A long checkpoint interval saves disk writes: each checkpoint writes a changed page once, even if many batches changed the page.
    database.pragma(`wal_autocheckpoint = ${bounds.analyticsStoreCheckpointPages}`);
    database.pragma(`cache_size = -${bounds.analyticsStoreCacheKibibytes}`);
    const empty = prepareSingleValueQuery(database, 'SELECT count(*) FROM sqlite_schema').get() === 0;
    if (!empty) return assertSchemaVersion(database);
    database.transaction(() => {
      database.exec(createTablesSql);
      database.pragma(`user_version = ${schemaVersion}`);
    })();
  });
}

/** Opens an existing store read-only. Another process may write to the store at the same time. Throws `StoreVersionMismatchError`. */
export function openAnalyticsDatabaseReadOnly(file: string): Database.Database {
  return closeOnError(new Database(file, { readonly: true, fileMustExist: true }), assertSchemaVersion);
}

function closeOnError(database: Database.Database, setUp: (database: Database.Database) => void): Database.Database {
  try {
    setUp(database);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

export function isCurrentSchemaVersion(database: Database.Database): boolean {
  return database.pragma('user_version', { simple: true }) === schemaVersion;
}

function assertSchemaVersion(database: Database.Database): void {
  const version = database.pragma('user_version', { simple: true });
  if (version === schemaVersion) return;
  throw new StoreVersionMismatchError(
    `analytics store has schema version ${version}; this release uses ${schemaVersion}`,
  );
}

/** Prepares a statement that returns each row as an array. */
export function prepareArrayQuery<Parameters extends unknown[], Row>(
  database: Database.Database,
  sql: string,
): Statement<Parameters, Row> {
  return database.prepare<Parameters, Row>(sql).raw();
}

/** Prepares a statement that returns single values instead of rows. */
export function prepareSingleValueQuery<Parameters extends unknown[], Value>(
  database: Database.Database,
  sql: string,
): Statement<Parameters, Value> {
  return database.prepare<Parameters, Value>(sql).pluck();
}

/** Deletes the files of an analytics store. The caller must close the store first. */
export function deleteAnalyticsDatabase(file: string): void {
  for (const suffix of ['', '-wal', '-shm']) rmSync(file + suffix, { force: true });
}

export function isCorruptDatabaseError(error: unknown): error is Error {
  if (!(error instanceof Database.SqliteError)) return false;
  return error.code.startsWith('SQLITE_CORRUPT') || error.code.startsWith('SQLITE_NOTADB');
}

/** Number of rows per INSERT statement. With 8 rows per statement, the aggregator is 12 to 20 % faster than with 1 row. */
const rowsPerStatement = 8;

export type SqlValue = number | bigint | string | Uint8Array | null;

/** Inserts rows into one table, several rows per statement, in the order of the `add` calls. */
export class RowWriter {
  readonly #insertMany: Statement<[SqlValue[]]>;
  readonly #insertOne: Statement<[SqlValue[]]>;
  readonly #columnCount: number;
  #pendingValues: SqlValue[] = [];

  /** @param conflict an `ON CONFLICT` clause; required if the table may already contain some of the rows */
  constructor(database: Database.Database, table: string, columns: readonly string[], conflict = '') {
    const row = `(${columns.map(() => '?').join(', ')})`;
    const insert = (rows: number) =>
      `INSERT INTO ${table} (${columns.join(', ')}) VALUES ${Array(rows).fill(row).join(', ')} ${conflict}`;
    this.#insertMany = database.prepare<[SqlValue[]]>(insert(rowsPerStatement));
    this.#insertOne = database.prepare<[SqlValue[]]>(insert(1));
    this.#columnCount = columns.length;
  }

  /** Writes all buffered rows, then `rows`. */
  writeRows(rows: Iterable<readonly SqlValue[]>): void {
    for (const row of rows) this.add(row);
    this.flush();
  }

  /** Buffers a row. Buffered rows are written together when there are enough rows for one statement, or when `flush` is called. */
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
    for (let start = 0; start < values.length; start += width) this.#insertOne.run(values.slice(start, start + width));
  }
}

/** Returns the assignments of an `ON CONFLICT DO UPDATE SET` clause that adds the new values to the stored values. */
export function createIncrementSql(columns: readonly string[]): string {
  return columns.map((column) => `${column} = ${column} + excluded.${column}`).join(', ');
}

/** Encodes numbers as LEB128 varints, so that small numbers take only one or two bytes. Returns null for an empty list. */
export function encodeVarints(numbers: readonly number[]): Uint8Array | null {
  if (numbers.length === 0) return null;
  const bytes: number[] = [];
  for (const number of numbers) {
    let remaining = number;
    while (remaining >= 0x80) {
      bytes.push((remaining % 0x80) | 0x80);
      remaining = Math.floor(remaining / 0x80);
    }
    bytes.push(remaining);
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
