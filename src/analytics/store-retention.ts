import { bounds } from '../bounds.ts';
import type { LogCursor } from '../event-log/log-scanner.ts';
import type { LogEnd } from '../files/data-inventory.ts';
import { type ArchivedCounters, ArchiveWriteError, type CounterArchive } from './counter-archive.ts';
import { type SubIdSortKey, smallestSubIdOfDay } from './projection-state.ts';
import type { SqlDatabase } from './sql-database.ts';
import type { SqliteProjectionState } from './sqlite-projection-state.ts';

export interface RetentionRequest {
  /** Day number of the current day (UTC). */
  readonly today: number;
  /** Number of days before `today` for which sessions are retained. */
  readonly retentionDays: number;
  /** Unix time of the request in milliseconds; stored in the archive. */
  readonly wallMs: number;
  /** About the number of visitors of experiments that one call may search; by default `bounds.visitorsSearchedPerCall`. */
  readonly visitorsMax?: number;
}

/**
 * If `archived` is false, `reason` is the error message of a failed write. It is null if the visitors of experiments are not all searched yet,
 * so that the call must be repeated.
 */
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
  | { readonly archived: false; readonly reason: string | null };

/**
 * Decides which days to delete from the analytics store, keeps the store and the archive consistent, and deletes the rows of sessions that
 * are no longer retained.
 *
 * The counters of all days before the first retained day are archived. Queries and updates ignore sessions created before the first
 * retained day, even if the rows of these sessions are not deleted yet. If a method throws, close and reopen the store.
 */
export class StoreRetention {
  readonly #database: SqlDatabase;
  readonly #archive: CounterArchive;
  readonly #state: SqliteProjectionState;
  #firstRetainedDay: number;
  /** All rows of sessions from before this day are deleted. Starts at 0, because an earlier process may have left rows. */
  #prunedUntilDay = 0;

  constructor(database: SqlDatabase, archive: CounterArchive, state: SqliteProjectionState) {
    this.#database = database;
    this.#archive = archive;
    this.#state = state;
    this.#firstRetainedDay = database.value<number>('SELECT kept_from_day FROM retention')!;
  }

  /** Smallest possible sub_id of a retained session. */
  get firstRetainedSubId(): SubIdSortKey {
    return smallestSubIdOfDay(this.#firstRetainedDay);
  }

  /**
   * Copies the archived counters into the store unless the store already includes all archived days. Throws `LogDamagedError` if the
   * archive is damaged.
   */
  restoreArchivedCounters(): void {
    const { firstRetainedDay } = this.#archive;
    if (firstRetainedDay <= this.#firstRetainedDay) return;
    this.#database.write(() => {
      const records = this.#state.experimentSums.archive.restore(firstRetainedDay, this.#archive.readAll());
      const offersFromDay = this.#state.counters.restoreArchivedDays(firstRetainedDay, records, this.#state);
      this.#database.run('UPDATE retention SET offers_from_day = ?', [offersFromDay]);
      this.#setFirstRetainedDay(firstRetainedDay);
    });
  }

  /**
   * Archives the counters of days beyond the retention period, and then sets the first retained day. A failed archive write leaves the
   * store unchanged.
   */
  applyRetention(request: RetentionRequest, cursor: LogCursor | null): RetentionResult {
    const previousDay = this.#firstRetainedDay;
    try {
      if (cursor !== null && !this.#archiveDays(request, cursor)) return { archived: false, reason: null };
    } catch (error) {
      if (!(error instanceof ArchiveWriteError)) throw error;
      return { archived: false, reason: error.message };
    }
    // Uses the position from the store if it is lower, because the position from the archive may belong to an earlier ledger.
    const { ledgerStartPosition: archivedPosition, firstRetainedDay, end: archiveEnd } = this.#archive;
    const ledgerStartPosition =
      cursor === null ? 0 : Math.min(archivedPosition, this.#firstSegmentSinceDay(firstRetainedDay, cursor));
    const retainedFromDay = this.#firstRetainedDay;
    const isNew = retainedFromDay > previousDay;
    return { archived: true, retainedFromDay, isNew, ledgerStartPosition, archiveEnd };
  }

  /** Returns false if the visitors of the days are not all searched yet. */
  #archiveDays(request: RetentionRequest, cursor: LogCursor): boolean {
    // If archive segments were lost, their counters are archived again, because the store still has the counters.
    // While earlier sessions are counted in an experiment, the figures of all its days may still change.
    const isFilling = this.#state.experimentSums.experiments.nextFill !== null;
    const untilDay = Math.max(isFilling ? 0 : this.#computeFirstRetainedDay(request), this.#firstRetainedDay);
    const fromDay = this.#archive.firstRetainedDay;
    const { archive } = this.#state.experimentSums;
    if (isFilling) archive.endPreparation();
    if (untilDay <= fromDay) return true;
    const { wallMs, visitorsMax = bounds.visitorsSearchedPerCall } = request;
    if (!archive.prepare({ fromDay, untilDay }, visitorsMax)) return false;
    const ledgerStartPosition = this.#firstSegmentSinceDay(untilDay, cursor);
    const hasOffers = fromDay >= this.#database.value<number>('SELECT offers_from_day FROM retention')!;
    const range = { wallMs, untilDay, ledgerStartPosition, hasOffers };
    this.#archive.append(range, this.#readCounters(fromDay, untilDay, ledgerStartPosition));
    this.#database.write(() => this.#setFirstRetainedDay(untilDay));
    archive.endPreparation();
    return true;
  }

  *#readCounters(fromDay: number, untilDay: number, ledgerStartPosition: number): ArchivedCounters {
    yield* this.#state.counters.readDays(fromDay, untilDay);
    const deleted = { fromPosition: this.#archive.ledgerStartPosition, untilPosition: ledgerStartPosition };
    yield* this.#state.experimentSums.archive.read({ fromDay, untilDay }, deleted);
  }

  /**
   * Returns the first day whose sessions must be retained; 0 if no session has to be deleted. Counts `retentionDays` back from `today`, or
   * from the day after the second newest cohort day if it is earlier, so that a clock that is months ahead does not delete all sessions.
   */
  #computeFirstRetainedDay({ today, retentionDays }: RetentionRequest): number {
    const findDay = (sql: string, day: number) => this.#database.value<number>(sql, [day]);
    const newestBeforeSql = 'SELECT max(day) FROM cohort_piece WHERE day < ?';
    const newest = findDay(newestBeforeSql, Number.MAX_SAFE_INTEGER);
    const beforeNewest = newest === null ? null : findDay(newestBeforeSql, newest);
    const oldest = findDay('SELECT min(day) FROM cohort_piece WHERE day >= ?', this.#firstRetainedDay);
    if (oldest === null || beforeNewest === null) return 0;
    const day = Math.min(today, beforeNewest + 1) - retentionDays;
    return oldest < day ? day : 0;
  }

  /**
   * Returns the first position of the oldest ledger segment in which a session was created on `day` or later. No older segment contains
   * records of a session from `day` or later, because a session's creation record is its first record.
   */
  #firstSegmentSinceDay(day: number, { segment }: LogCursor): number {
    const sql = 'SELECT min(first) FROM ledger_segment WHERE last_day >= ?';
    return Math.min(segment, this.#database.value<number>(sql, [day]) ?? segment);
  }

  #setFirstRetainedDay(day: number): void {
    this.#database.run('UPDATE retention SET kept_from_day = ?', [day]);
    this.#database.run('DELETE FROM ledger_segment WHERE last_day < ?', [day]);
    this.#firstRetainedDay = day;
  }

  /** Whether the store may contain rows of sessions that are not retained. */
  get hasRowsToPrune(): boolean {
    return this.#prunedUntilDay < this.#firstRetainedDay;
  }

  /** Deletes a limited number of rows of sessions that are no longer retained, in one short transaction, so that queries do not wait long. */
  pruneRows(): void {
    const mayRemain = this.#database.write(() => this.#deleteOldRows());
    if (!mayRemain) this.#prunedUntilDay = this.#firstRetainedDay;
  }

  /** Returns true if rows of sessions beyond the retention period may remain. */
  #deleteOldRows(): boolean {
    const database = this.#database;
    const limit = bounds.sessionsPrunedPerTransaction;
    const sessions = database.rows<[sub: Buffer, position: number, clicks: number]>(
      'SELECT sub, position, clicks FROM session WHERE sub < ? ORDER BY sub LIMIT ?',
      [Buffer.from(this.firstRetainedSubId, 'latin1'), limit],
    );
    for (const [, position, clicks] of sessions) {
      database.run('DELETE FROM session_metadata WHERE session = ?', [position]);
      database.run('DELETE FROM session_unit WHERE session = ?', [position]);
      if (clicks === 0) continue;
      database.run('DELETE FROM click WHERE session = ?', [position]);
      database.run('DELETE FROM payout WHERE session = ?', [position]);
      database.run('DELETE FROM click_reversal WHERE session = ?', [position]);
    }
    const last = sessions.at(-1);
    if (last !== undefined) database.run('DELETE FROM session WHERE sub <= ?', [last[0]]);
    const { changes: pieces } = database.run(
      `DELETE FROM cohort_piece WHERE (day, tag_number, last_position) IN
        (SELECT day, tag_number, last_position FROM cohort_piece WHERE day < ? LIMIT ?)`,
      [this.#firstRetainedDay, limit],
    );
    return sessions.length === limit || pieces === limit;
  }
}
