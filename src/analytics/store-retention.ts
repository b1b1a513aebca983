import type { Database, Statement } from 'better-sqlite3';
import { bounds } from '../bounds.ts';
import type { LogCursor } from '../event-log/log-scanner.ts';
import type { LogEnd } from '../files/data-inventory.ts';
import { prepareArrayQuery, prepareSingleValueQuery } from './analytics-database.ts';
import { ArchiveWriteError, type CounterArchive } from './counter-archive.ts';
import type { DailyCounters } from './daily-counters.ts';
import { type SubIdSortKey, smallestSubIdOfDay } from './projection-state.ts';
import type { SqliteProjectionState } from './sqlite-projection-state.ts';

/**
 * First day whose sessions are retained. The counters of all days before the first retained day are archived. Queries and updates ignore
 * sessions created before the first retained day, even if the rows of these sessions are not deleted yet.
 */
export class RetentionCutoff {
  readonly #updateFromDay: Statement<[number]>;
  #firstDay: number;
  #firstKey: SubIdSortKey;

  constructor(database: Database) {
    this.#updateFromDay = database.prepare('UPDATE retention SET kept_from_day = ?');
    this.#firstDay = prepareSingleValueQuery<[], number>(database, 'SELECT kept_from_day FROM retention').get()!;
    this.#firstKey = firstRetainedKey(this.#firstDay);
  }

  /** First retained day as a day number; 0 if every session is retained. */
  get firstRetainedDay(): number {
    return this.#firstDay;
  }

  /** Smallest possible sub_id of a retained session; an empty string if every session is retained. */
  get firstRetainedSubId(): SubIdSortKey {
    return this.#firstKey;
  }

  /** Sets the first retained day. Must run in a transaction. After a rollback, this `RetentionCutoff` must not be used. */
  setFirstRetainedDay(day: number): void {
    this.#updateFromDay.run(day);
    this.#firstDay = day;
    this.#firstKey = firstRetainedKey(day);
  }
}

/** Returns the smallest possible sub_id of a retained session, or an empty string if all sessions are retained. */
function firstRetainedKey(day: number): SubIdSortKey {
  return day === 0 ? '' : smallestSubIdOfDay(day);
}

/** Deletes the rows of sessions that are no longer retained. Uses small transactions, so that queries do not wait long. */
export class SessionPruner {
  readonly #retainedSessions: RetentionCutoff;
  readonly #selectPrunable: Statement<[Buffer, number], [sub: Buffer, position: number, clicks: number]>;
  readonly #deleteSessions: Statement<[Buffer]>;
  readonly #deleteCohortPieces: Statement<[number, number]>;
  readonly #deleteMetadata: Statement<[number]>;
  readonly #deleteClicks: Statement<[number]>;
  readonly #deletePayouts: Statement<[number]>;
  readonly #deleteReversals: Statement<[number]>;
  readonly #pruneBatch: () => boolean;
  /** All rows of sessions from before this day are deleted. Starts at 0, because an earlier process may have left rows. */
  #prunedUntilDay = 0;

  constructor(database: Database, retainedSessions: RetentionCutoff) {
    this.#retainedSessions = retainedSessions;
    this.#selectPrunable = prepareArrayQuery(
      database,
      'SELECT sub, position, clicks FROM session WHERE sub < ? ORDER BY sub LIMIT ?',
    );
    this.#deleteSessions = database.prepare('DELETE FROM session WHERE sub <= ?');
    this.#deleteCohortPieces = database.prepare(`
      DELETE FROM cohort_piece WHERE (day, experiment, last_position) IN
        (SELECT day, experiment, last_position FROM cohort_piece WHERE day < ? LIMIT ?)`);
    this.#deleteMetadata = database.prepare('DELETE FROM session_metadata WHERE session = ?');
    this.#deleteClicks = database.prepare('DELETE FROM click WHERE session = ?');
    this.#deletePayouts = database.prepare('DELETE FROM payout WHERE session = ?');
    this.#deleteReversals = database.prepare('DELETE FROM click_reversal WHERE session = ?');
    this.#pruneBatch = database.transaction(() => this.#deleteOldRows()).immediate;
  }

  /** Whether the store may contain rows of sessions that are not retained. */
  get hasRowsToPrune(): boolean {
    return this.#prunedUntilDay < this.#retainedSessions.firstRetainedDay;
  }

  /** Deletes a limited number of rows of sessions that are no longer retained, in one transaction. */
  pruneRows(): void {
    if (!this.#pruneBatch()) this.#prunedUntilDay = this.#retainedSessions.firstRetainedDay;
  }

  /** Returns true if rows of sessions beyond the retention period may remain. */
  #deleteOldRows(): boolean {
    const limit = bounds.sessionsPrunedPerTransaction;
    const sessions = this.#selectPrunable.all(Buffer.from(this.#retainedSessions.firstRetainedSubId, 'latin1'), limit);
    for (const [, position, clicks] of sessions) {
      this.#deleteMetadata.run(position);
      if (clicks === 0) continue;
      this.#deleteClicks.run(position);
      this.#deletePayouts.run(position);
      this.#deleteReversals.run(position);
    }
    const last = sessions.at(-1);
    if (last !== undefined) this.#deleteSessions.run(last[0]);
    const pieces = this.#deleteCohortPieces.run(this.#retainedSessions.firstRetainedDay, limit).changes;
    return sessions.length === limit || pieces === limit;
  }
}

export interface RetentionRequest {
  /** Day number of the current day (UTC). */
  readonly today: number;
  /** Number of days before `today` for which sessions are retained. */
  readonly retentionDays: number;
  /** Unix time of the request in milliseconds; stored in the archive. */
  readonly wallMs: number;
}

/** If the archive cannot be written, `archived` is false, and `reason` is the error message. */
export type RetentionResult =
  | {
      readonly archived: true;
      /** First day (day number) whose sessions are retained. */
      readonly retainedFromDay: number;
      /** Whether this call increased the first retained day. */
      readonly isNew: boolean;
      /** Ledger records before this position can be deleted, because a rebuild of the store does not need these records. */
      readonly ledgerStartPosition: number;
      /** End of the archive after this call. */
      readonly archiveEnd: LogEnd;
    }
  | { readonly archived: false; readonly reason: string };

/** Decides which days to delete from the analytics store, and keeps the analytics store and the archive consistent. */
export class AnalyticsRetention {
  readonly #database: Database;
  readonly #retainedSessions: RetentionCutoff;
  readonly #counters: DailyCounters;
  readonly #selectFirstSegmentSince: Statement<[number], number | null>;
  readonly #deleteSegmentsBefore: Statement<[number]>;
  readonly #selectNewestDayBefore: Statement<[number], number | null>;
  readonly #selectOldestDayFrom: Statement<[number], number | null>;

  constructor(database: Database, retainedSessions: RetentionCutoff, counters: DailyCounters) {
    this.#database = database;
    this.#retainedSessions = retainedSessions;
    this.#counters = counters;
    this.#selectFirstSegmentSince = prepareSingleValueQuery(
      database,
      'SELECT min(first) FROM ledger_segment WHERE last_day >= ?',
    );
    this.#deleteSegmentsBefore = database.prepare('DELETE FROM ledger_segment WHERE last_day < ?');
    this.#selectNewestDayBefore = prepareSingleValueQuery(database, 'SELECT max(day) FROM cohort_piece WHERE day < ?');
    this.#selectOldestDayFrom = prepareSingleValueQuery(database, 'SELECT min(day) FROM cohort_piece WHERE day >= ?');
  }

  /**
   * Archives the counters of days beyond the retention period, and then sets the first retained day. A failed archive write leaves the
   * store unchanged.
   */
  applyRetention(archive: CounterArchive, request: RetentionRequest, cursor: LogCursor | null): RetentionResult {
    const previousDay = this.#retainedSessions.firstRetainedDay;
    try {
      if (cursor !== null) this.#archiveDays(archive, request, cursor);
    } catch (error) {
      if (!(error instanceof ArchiveWriteError)) throw error;
      return { archived: false, reason: error.message };
    }
    const retainedFromDay = this.#retainedSessions.firstRetainedDay;
    // Uses the position from the store if it is lower, because the position from the archive may belong to an earlier ledger.
    const ledgerStartPosition =
      cursor === null
        ? 0
        : Math.min(archive.ledgerStartPosition, this.#firstSegmentSinceDay(archive.firstRetainedDay, cursor));
    const isNew = retainedFromDay > previousDay;
    return { archived: true, retainedFromDay, isNew, ledgerStartPosition, archiveEnd: archive.end };
  }

  #archiveDays(archive: CounterArchive, request: RetentionRequest, cursor: LogCursor): void {
    // If archive segments were lost, their counters are archived again, because the store still has the counters.
    const untilDay = Math.max(this.#computeFirstRetainedDay(request), this.#retainedSessions.firstRetainedDay);
    if (untilDay <= archive.firstRetainedDay) return;
    const { wallMs } = request;
    const ledgerStartPosition = this.#firstSegmentSinceDay(untilDay, cursor);
    const counters = this.#counters.readDays(archive.firstRetainedDay, untilDay);
    archive.append({ wallMs, untilDay, ledgerStartPosition: ledgerStartPosition }, counters);
    this.#database.transaction(() => this.#setFirstRetainedDay(untilDay)).immediate();
  }

  /** Copies the archived counters into the store unless the store already includes all archived days. */
  restoreArchivedCounters(archive: CounterArchive, numbers: SqliteProjectionState): void {
    const { firstRetainedDay: retainedFromDay } = archive;
    if (retainedFromDay <= this.#retainedSessions.firstRetainedDay) return;
    this.#database
      .transaction(() => {
        this.#counters.restoreArchivedDays(retainedFromDay, archive.readAll(), numbers);
        this.#setFirstRetainedDay(retainedFromDay);
      })
      .immediate();
  }

  /**
   * Returns the first day whose sessions must be retained; 0 if no session has to be deleted. Counts `retentionDays` back from `today`, or
   * from the day after the second newest cohort day if it is earlier, so that a clock that is months ahead does not delete all sessions.
   */
  #computeFirstRetainedDay({ today, retentionDays }: RetentionRequest): number {
    const newest = this.#selectNewestDayBefore.get(Number.MAX_SAFE_INTEGER) ?? null;
    const beforeNewest = newest === null ? null : (this.#selectNewestDayBefore.get(newest) ?? null);
    const oldest = this.#selectOldestDayFrom.get(this.#retainedSessions.firstRetainedDay) ?? null;
    if (oldest === null || beforeNewest === null) return 0;
    const day = Math.min(today, beforeNewest + 1) - retentionDays;
    return oldest < day ? day : 0;
  }

  /**
   * Returns the first position of the oldest ledger segment in which a session was created on `day` or later. No older segment contains
   * records of a session from `day` or later, because a session's creation record is its first record.
   */
  #firstSegmentSinceDay(day: number, { segment }: LogCursor): number {
    return Math.min(segment, this.#selectFirstSegmentSince.get(day) ?? segment);
  }

  #setFirstRetainedDay(day: number): void {
    this.#retainedSessions.setFirstRetainedDay(day);
    this.#deleteSegmentsBefore.run(day);
  }
}
