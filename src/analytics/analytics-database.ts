import { renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import { bounds } from '../bounds.ts';
import { groupSumNames, largeUnitSumNames, unitSumNames } from '../experiments/unit-sums.ts';
import { createPrivateFile, fsyncPath, separateHardLinks } from '../files/durable-files.ts';
import { unbookedReasons, widgetEventTypes } from '../ledger/ledger-record.ts';
import { recordCountNames } from './projection-state.ts';
import { SqlDatabase, toColumnName } from './sql-database.ts';
import {
  assertCurrentVersion,
  readStoreVersion,
  schemaVersion,
  setVersionSql,
  upgradeStore,
} from './store-upgrades.ts';

/** Names of the columns that count clicks without revenue, in the order of `unbookedReasons`. */
export const unbookedClickColumns = unbookedReasons.map((reason) => `unbooked_${reason}`);

/** Names of the columns of the table `progress` that store the record totals, in the order of `recordCountNames`. */
export const recordCountColumns = recordCountNames.map(toColumnName);

/** Names of the columns of the table `experiment_day` that store sums over units. */
export const unitSumColumns = [...unitSumNames, ...largeUnitSumNames].map(toColumnName);

/** Names of the columns of the table `experiment_group` that store sums over units. */
export const groupSumColumns = [...groupSumNames, ...largeUnitSumNames].map(toColumnName);

/** Highest number of a group of a device class. Numbers of values of dimensions are greater. */
export const deviceGroupMax = 100;

/**
 * Tables of the analytics store. All data can be computed from the ledger and the archived counters. Figures are grouped by cohort: the UTC
 * day of the session's creation (docs/contract.md#cohorts).
 *
 * - `referrer_tag`: one tag of one account, vertical and mode, so that figures of two tenants cannot mix (docs/contract.md#tenants). Other
 *   tables refer to its `number`. Tags are never deleted, because their daily figures are never deleted.
 * - Money is in integer micro-dollars. The sum of squares of the confirmed revenue per session is in integer cents squared, because integer
 *   sums do not depend on their order: counters derived twice are identical.
 * - Tables with sums of money or of squares are not STRICT. SQLite stores a sum beyond 64 bits as a floating-point number, and a STRICT table
 *   would reject this number, so that the batch fails.
 * - `session` is keyed by sub_id, which starts with the creation time, so inserts go to the end of the B-tree. The sub_id contains account,
 *   vertical, mode, shard and day. `position` is the ledger position of the session's creation record, and identifies the session in the
 *   tables `click`, `payout` and `session_metadata`.
 * - `cohort_piece`: sub_ids of the sessions of one tag and day in ledger order, so that a page of sessions is read without scanning
 *   earlier sessions. One row contains the sub_ids of several sessions, because one row per session would make the aggregator 20 % slower.
 *   The primary key starts with the day, so that most rows of a batch are adjacent in the table.
 * - `click`: a counted click. `booking` is one of the numbers in `clickBookingState`. `unbooked_reasons` has one bit for each item of
 *   `unbookedReasons`. The daily counters `unbooked_...` count these bits (docs/contract.md#clicks-that-are-not-booked). `payout_micros` is
 *   the flat payout in the click's record, or null.
 * - `day_counter`: `revenue_sessions` counts the sessions with confirmed revenue. `revenue_sessions`, `first_session_ms` and
 *   `last_session_ms` (creation times) are null for days that an earlier release archived without them.
 * - `payout`: amounts that a lender owes for a click, by `txid` (docs/contract.md#confirmations). The reversal columns are null until the
 *   payout is reversed. `funded_ms` and `reversed_ms` are the lender's times; `..._accepted_ms` are the times of the ledger records.
 * - `click_reversal`: reversals of revenue that a click confirmed itself, by their own `txid`. `reason` is an index in `reversalReasons`.
 * - `offer_counter`: clicks by lender and offer. `offer` is 0 for clicks that an earlier release archived without the offer.
 * - `offer_total`: sums of `offer_counter` and `offer_view` over all tags of a vertical and mode (`OfferTotals`).
 * - `offer_view`: how often each offer was shown at each position, in the format of `OfferViews`. `retention.offers_from_day` is the first day after all
 *   days that an earlier release archived without offers, or 0.
 * - `ledger_segment`: ledger segments with session creations, and the latest cohort day of these sessions.
 * - `experiment`: `definition` and `outcome` are JSON texts of ledger records; `outcome` is null until the experiment is closed. `position`,
 *   `closed_position` and `deleted_position` are the ledger positions of the first definition, of the closing and of the deletion.
 * - `experiment_arm`: experiments of each referrer tag, with the index of its arm, also for tags without sessions.
 * - `session_unit`: hash of the visitor of each session that has one, and the mark in the session's record. An experiment that is created
 *   later needs them.
 * - `experiment_fill`: progress of counting the sessions that were created before the experiment, in the order of day, tag number and
 *   position: all sessions up to that position are counted. `day` is null when all sessions are counted. It is -1 while the sums of an
 *   earlier definition are deleted. `defined_position` and `counted_position` are the ledger positions of the last definition, and of the last
 *   one that changed which sessions count, or how.
 * - `experiment_day`: sums over units by arm and cohort day (`ArmDay`). `no_unit` counts the sessions without a `unit_id` in an experiment of visitors.
 * - `experiment_age`: frozen revenue by arm, cohort day and age (`RevenueAge`).
 * - `experiment_dimension`: dimensions of an experiment. Sessions at or before `since_position` have no value of the dimension.
 * - `experiment_value`: values of dimensions with figures of their own. `value` is JSON text: a string, or null for sessions without the key.
 *   `first_position` is the lowest position of a session with the value. Numbers are never used again.
 * - `experiment_group`: sums over the units of a group, by arm and cohort day. `value` is the number of an `experiment_value`, or of a device
 *   class plus 1. The group of a unit is that of its session with the lowest position. Units of other values have no rows.
 * - `experiment_unit`: visitors of an experiment. `arm` is the arm of the visitor's session at `first_position`, the lowest position of its
 *   sessions. `groups` are the numbers of the groups of that session as varints, some of which may have been
 *   deleted. `days` are its figures by day (`encodeUnitDays`), which are needed when a later session changes its sums.
 * - `experiment_revenue`: sessions or visitors with frozen revenue. `unit` is the position of the session, or the hash of the visitor, which
 *   has a row for each of its days.
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

  CREATE TABLE retention (
    one INTEGER PRIMARY KEY CHECK (one = 1), kept_from_day INTEGER NOT NULL, offers_from_day INTEGER NOT NULL
  ) STRICT;
  INSERT INTO retention VALUES (1, 0, 0);

  CREATE TABLE ledger_segment (first INTEGER PRIMARY KEY, last_day INTEGER NOT NULL) STRICT;

  CREATE TABLE referrer_tag (
    number INTEGER PRIMARY KEY,
    account INTEGER NOT NULL, vertical INTEGER NOT NULL, test INTEGER NOT NULL, tag TEXT NOT NULL,
    UNIQUE (account, vertical, test, tag)
  ) STRICT;

  CREATE TABLE experiment (
    number INTEGER PRIMARY KEY,
    account INTEGER NOT NULL, vertical INTEGER NOT NULL, test INTEGER NOT NULL, name TEXT NOT NULL,
    definition TEXT NOT NULL, created_ms INTEGER NOT NULL, position INTEGER NOT NULL,
    outcome TEXT, closed_ms INTEGER, closed_by INTEGER, closed_position INTEGER, deleted_position INTEGER,
    UNIQUE (account, vertical, test, name)
  ) STRICT;

  CREATE TABLE experiment_arm (
    account INTEGER NOT NULL, vertical INTEGER NOT NULL, test INTEGER NOT NULL, tag TEXT NOT NULL,
    experiment INTEGER NOT NULL, arm INTEGER NOT NULL,
    PRIMARY KEY (account, vertical, test, tag, experiment)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE session_unit (session INTEGER PRIMARY KEY, unit BLOB NOT NULL, misassigned INTEGER NOT NULL) STRICT;

  CREATE TABLE experiment_fill (
    experiment INTEGER PRIMARY KEY, defined_position INTEGER NOT NULL, counted_position INTEGER NOT NULL,
    day INTEGER, tag_number INTEGER NOT NULL, position INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE experiment_day (
    experiment INTEGER NOT NULL, day INTEGER NOT NULL, arm INTEGER NOT NULL, no_unit INTEGER NOT NULL,
    ${unitSumColumns.map((column) => `${column} INTEGER NOT NULL`).join(', ')},
    PRIMARY KEY (experiment, day, arm)
  ) WITHOUT ROWID;

  CREATE TABLE experiment_age (
    experiment INTEGER NOT NULL, day INTEGER NOT NULL, arm INTEGER NOT NULL, age_weeks INTEGER NOT NULL,
    revenue_micros INTEGER NOT NULL,
    PRIMARY KEY (experiment, day, arm, age_weeks)
  ) WITHOUT ROWID;

  CREATE TABLE experiment_dimension (
    experiment INTEGER NOT NULL, name TEXT NOT NULL, since_position INTEGER NOT NULL,
    PRIMARY KEY (experiment, name)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE experiment_value (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    experiment INTEGER NOT NULL, dimension TEXT NOT NULL, value TEXT NOT NULL, first_position INTEGER NOT NULL,
    UNIQUE (experiment, dimension, value)
  ) STRICT;
  INSERT INTO sqlite_sequence VALUES ('experiment_value', ${deviceGroupMax});

  CREATE TABLE experiment_group (
    experiment INTEGER NOT NULL, value INTEGER NOT NULL, day INTEGER NOT NULL, arm INTEGER NOT NULL,
    ${groupSumColumns.map((column) => `${column} INTEGER NOT NULL`).join(', ')},
    PRIMARY KEY (experiment, value, day, arm)
  ) WITHOUT ROWID;

  CREATE TABLE experiment_unit (
    experiment INTEGER NOT NULL, unit BLOB NOT NULL, arm INTEGER NOT NULL, first_position INTEGER NOT NULL,
    first_day INTEGER NOT NULL, last_day INTEGER NOT NULL, days BLOB NOT NULL, groups BLOB,
    PRIMARY KEY (experiment, unit)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE experiment_revenue (
    experiment INTEGER NOT NULL, unit ANY NOT NULL, day INTEGER NOT NULL, arm INTEGER NOT NULL,
    revenue_micros INTEGER NOT NULL, sessions INTEGER NOT NULL,
    PRIMARY KEY (experiment, unit, day)
  ) WITHOUT ROWID;

  CREATE INDEX experiment_largest_revenue ON experiment_revenue (experiment, revenue_micros, arm);

  CREATE TABLE offer (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE) STRICT;

  CREATE TABLE lender (number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;

  CREATE TABLE session (
    sub BLOB PRIMARY KEY,
    tag_number INTEGER NOT NULL, position INTEGER NOT NULL, device INTEGER NOT NULL, views INTEGER NOT NULL,
    clicks INTEGER NOT NULL, shown BLOB, last_event_ms INTEGER NOT NULL, widget_events BLOB
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE cohort_piece (
    day INTEGER NOT NULL, tag_number INTEGER NOT NULL, last_position INTEGER NOT NULL, first_position INTEGER NOT NULL,
    subs BLOB NOT NULL,
    PRIMARY KEY (day, tag_number, last_position)
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
    funded_micros INTEGER NOT NULL, funded_ms INTEGER NOT NULL, funded_accepted_ms INTEGER NOT NULL,
    reversed_micros INTEGER, reversed_ms INTEGER, reversed_accepted_ms INTEGER,
    PRIMARY KEY (session, offer, txid)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE click_reversal (
    session INTEGER NOT NULL, offer INTEGER NOT NULL, txid TEXT NOT NULL,
    reversed_micros INTEGER NOT NULL, reversed_ms INTEGER NOT NULL, reason INTEGER NOT NULL,
    reversed_accepted_ms INTEGER NOT NULL,
    PRIMARY KEY (session, offer, txid)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE day_counter (
    tag_number INTEGER NOT NULL, day INTEGER NOT NULL, device INTEGER NOT NULL,
    sessions INTEGER NOT NULL, views INTEGER NOT NULL, clicks INTEGER NOT NULL, attributed_micros INTEGER NOT NULL,
    confirmed_micros INTEGER NOT NULL DEFAULT 0, confirmed_cents_squared INTEGER NOT NULL DEFAULT 0,
    revenue_sessions INTEGER, first_session_ms INTEGER, last_session_ms INTEGER,
    ${unbookedClickColumns.map((column) => `${column} INTEGER NOT NULL`).join(', ')},
    PRIMARY KEY (tag_number, day, device)
  ) WITHOUT ROWID;

  CREATE TABLE widget_counter (
    tag_number INTEGER NOT NULL, day INTEGER NOT NULL, device INTEGER NOT NULL,
    ${widgetEventTypes.map((type) => `${type} INTEGER NOT NULL`).join(', ')},
    PRIMARY KEY (tag_number, day, device)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE offer_counter (
    tag_number INTEGER NOT NULL, day INTEGER NOT NULL, lender INTEGER NOT NULL, offer INTEGER NOT NULL,
    clicks INTEGER NOT NULL, attributed_micros INTEGER NOT NULL, confirmed_micros INTEGER NOT NULL,
    PRIMARY KEY (tag_number, day, lender, offer)
  ) WITHOUT ROWID;

  CREATE TABLE offer_view (
    tag_number INTEGER NOT NULL, day INTEGER NOT NULL, shown BLOB NOT NULL,
    PRIMARY KEY (tag_number, day)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE offer_total (
    vertical INTEGER NOT NULL, test INTEGER NOT NULL, offer INTEGER NOT NULL, day INTEGER NOT NULL,
    shown INTEGER NOT NULL, clicks INTEGER NOT NULL, attributed_micros INTEGER NOT NULL, confirmed_micros INTEGER NOT NULL,
    PRIMARY KEY (vertical, test, offer, day)
  ) WITHOUT ROWID;
`;

/**
 * Opens the store for writing. Creates the tables if the file is new, and upgrades the tables of an earlier version. Throws
 * `StoreVersionMismatchError`.
 */
export function openAnalyticsDatabase(file: string): SqlDatabase {
  createPrivateFile(file);
  return closeOnError(new SqlDatabase(file), (database) => {
    // With `synchronous = NORMAL`, a power cut may undo the last commits but does not corrupt the file. `LedgerFollower` then applies the
    // ledger records of the undone commits again. A long checkpoint interval saves disk writes: each checkpoint writes a changed page once,
    // even if many batches changed the page.
    database.execute(`
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = NORMAL;
      PRAGMA wal_autocheckpoint = ${bounds.analyticsStoreCheckpointPages};
      PRAGMA cache_size = -${bounds.analyticsStoreCacheKibibytes};
    `);
    if (database.value('SELECT count(*) FROM sqlite_schema') === 0) {
      const versionSql = setVersionSql({ version: schemaVersion, isOutdated: false });
      database.write(() => database.execute(createTablesSql + versionSql));
    } else {
      upgradeStore(database);
    }
  });
}

/** Opens an existing store read-only. Another process may write to the store at the same time. Throws `StoreVersionMismatchError`. */
export function openAnalyticsDatabaseReadOnly(file: string): SqlDatabase {
  return closeOnError(new SqlDatabase(file, { readonly: true, fileMustExist: true }), assertCurrentVersion);
}

function closeOnError(database: SqlDatabase, setUp: (database: SqlDatabase) => void): SqlDatabase {
  try {
    setUp(database);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Deletes the files of an analytics store. The caller must close the store first. */
export function deleteAnalyticsDatabase(file: string): void {
  for (const suffix of ['', '-wal', '-shm']) rmSync(file + suffix, { force: true });
}

/**
 * Replaces an analytics store by another one. Both must be closed. After a crash, the store is either the old or the new one: at the close,
 * SQLite has moved the write-ahead log to the file of the old store, except transactions after the start of a read by another process.
 */
export function replaceAnalyticsDatabase(file: string, newFile: string): void {
  // The new file must not be used with the write-ahead log of the old one.
  for (const suffix of ['-wal', '-shm']) rmSync(file + suffix, { force: true });
  renameSync(newFile, file);
  fsyncPath(dirname(file));
}

export function isCorruptDatabaseError(error: unknown): error is Error {
  if (!(error instanceof Database.SqliteError)) return false;
  return error.code.startsWith('SQLITE_CORRUPT') || error.code.startsWith('SQLITE_NOTADB');
}

/** Facts that an analytics store proves about the other files of the data folder. */
export interface StoreEvidence {
  /** Position of the last ledger record that was applied to the store. */
  readonly position: number;
  /** Highest number of an account with sessions of each home shard, including sessions that the retention has deleted. */
  readonly highestAccounts: readonly number[];
  /** First day whose sessions the store retains. The store has the daily figures of all days before. */
  readonly firstRetainedDay: number;
  /** First position of the oldest ledger segment that contains sessions of retained days; 0 if this position is unknown. */
  readonly firstNeededSegment: number;
}

/** Selects the highest account of each home shard, by one lookup in the index of the table for each shard. */
function selectHighestAccounts(database: SqlDatabase, table: string): number[] {
  const rows = database.rows<[number]>(
    `WITH RECURSIVE highest (account) AS (
       SELECT max(account) FROM ${table}
       UNION ALL
       SELECT (SELECT max(account) FROM ${table} WHERE account < (highest.account >> 16) << 16)
       FROM highest WHERE account IS NOT NULL
     )
     SELECT account FROM highest WHERE account IS NOT NULL`,
  );
  return rows.map(([account]) => account);
}

/**
 * Reads the evidence from the store of this or an earlier release. Returns null if the file is missing, empty or damaged. For a store of
 * another release, which the service is going to rebuild, the last two members are 0.
 */
export function readStoreEvidence(file: string, { readonly }: { readonly readonly: boolean }): StoreEvidence | null {
  let database: SqlDatabase | undefined;
  try {
    // Closing a writable database moves its write-ahead log to the file, which a backup may share.
    if (!readonly) separateHardLinks(file);
    const opened = new SqlDatabase(file, { readonly, fileMustExist: true });
    database = opened;
    const query = (sql: string): number => opened.value<number>(sql) ?? 0;
    const isRenamed = query("SELECT count(*) FROM sqlite_schema WHERE name = 'referrer_tag'") > 0;
    const evidence = {
      position: query('SELECT position FROM progress'),
      highestAccounts: selectHighestAccounts(opened, isRenamed ? 'referrer_tag' : 'experiment'),
    };
    if (readStoreVersion(opened).version !== schemaVersion)
      return { ...evidence, firstRetainedDay: 0, firstNeededSegment: 0 };
    const current = query('SELECT segment FROM progress');
    const oldest = query(
      'SELECT min(first) FROM ledger_segment WHERE last_day >= (SELECT kept_from_day FROM retention)',
    );
    return {
      ...evidence,
      firstRetainedDay: query('SELECT kept_from_day FROM retention'),
      firstNeededSegment: oldest === 0 ? current : Math.min(oldest, current),
    };
  } catch (error) {
    if (error instanceof Database.SqliteError || (error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    // better-sqlite3 throws a TypeError without a code if the folder of the file does not exist.
    if (error instanceof TypeError) return null;
    throw error;
  } finally {
    database?.close();
  }
}
