import { bounds } from '../bounds.ts';
import type { LogCursor } from '../event-log/log-scanner.ts';
import type { LogEnd } from '../files/data-inventory.ts';
import type { ArchivedCounters } from './archive-record.ts';
import { ArchiveWriteError, type CounterArchive } from './counter-archive.ts';
import type { DayRange } from './experiments/archived-visitors.ts';
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
  /** Number of archive records that one call may write or verify; by default `bounds.recordsArchivedPerCall`. */
  readonly recordsMax?: number;
}

/**
 * If `archived` is false, `reason` is the error message of a failed write. It is null if the work is not finished, so that the call must be
 * repeated.
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

/** Days whose counters the archive is writing. */
interface UnfinishedDays extends DayRange {
  /** Whether a record changed figures that may have been written already. */
  isChanged: boolean;
  /** Number of times that the days were started again because of a change. */
  restarts: number;
}

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
  #unfinished: UnfinishedDays | null = null;
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

  /** First day whose sessions are retained. */
  get firstRetainedDay(): number {
    return this.#firstRetainedDay;
  }

  /**
   * Archives some of the counters of days beyond the retention period. Sets the first retained day when all counters of a day are archived. A
   * failed archive write leaves the store unchanged.
   */
  applyRetention(request: RetentionRequest, cursor: LogCursor | null): RetentionResult {
    const previousDay = this.#firstRetainedDay;
    try {
      if (cursor !== null && !this.#archiveDays(request, cursor)) return { archived: false, reason: null };
    } catch (error) {
      this.#unfinished = null;
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

  /** Must be called after a batch of ledger records. `smallestSubId` is the smallest sub_id of a session that the batch may have changed. */
  onBatchApplied(smallestSubId: SubIdSortKey): void {
    if (this.#unfinished === null || smallestSubId >= smallestSubIdOfDay(this.#unfinished.untilDay)) return;
    this.#unfinished.isChanged = true;
  }

  /** Discards the days that are not completely archived. */
  close(): void {
    this.#archive.discardSegment();
  }

  /** Archives some counters. Returns false if the call must be repeated. */
  #archiveDays(request: RetentionRequest, cursor: LogCursor): boolean {
    // While earlier sessions are counted in an experiment, the figures of all its days may still change.
    const isFilling = this.#state.experimentSums.experiments.nextFill !== null;
    // If archive segments were lost, their counters are archived again, because the store still has the counters.
    const targetDay = Math.max(isFilling ? 0 : this.#computeFirstRetainedDay(request), this.#firstRetainedDay);
    const { archive } = this.#state.experimentSums;
    if (isFilling) archive.endPreparation();
    if (targetDay <= this.#archive.firstRetainedDay) return true;
    const { visitorsMax = bounds.visitorsSearchedPerCall, recordsMax = bounds.recordsArchivedPerCall } = request;
    const range = this.#nextDaysToArchive(targetDay);
    if (!archive.prepare(range, visitorsMax)) return false;
    const { restarts } = this.#startDays(range, request, cursor);
    // Days that change again and again are archived in one call.
    const isSliced = restarts <= bounds.archiveRestartsMax;
    while (!this.#archive.continueSegment(recordsMax)) if (isSliced) return false;
    this.#unfinished = null;
    this.#database.write(() => this.#setFirstRetainedDay(range.untilDay));
    archive.endPreparation();
    return range.untilDay === targetDay;
  }

  /**
   * Returns the next days to archive: one day with sessions, and the days without sessions before and after it. If archive segments were lost,
   * returns all days, because the sessions of some of them are deleted.
   */
  #nextDaysToArchive(targetDay: number): DayRange {
    const fromDay = this.#archive.firstRetainedDay;
    if (fromDay < this.#firstRetainedDay) return { fromDay, untilDay: targetDay };
    const nextDaySql = 'SELECT min(day) FROM cohort_piece WHERE day > ?';
    const day = this.#database.value<number>(nextDaySql, [fromDay - 1]) ?? targetDay;
    const nextDay = this.#database.value<number>(nextDaySql, [day]) ?? targetDay;
    return { fromDay, untilDay: Math.min(nextDay, targetDay) };
  }

  /** Starts to archive the days, unless this is already started and the figures of the days have not changed. */
  #startDays(range: DayRange, { wallMs }: RetentionRequest, cursor: LogCursor): UnfinishedDays {
    const { fromDay, untilDay } = range;
    const before = this.#unfinished;
    const isSame = before !== null && before.fromDay === fromDay && before.untilDay === untilDay;
    if (isSame && !before.isChanged) return before;
    const ledgerStartPosition = this.#firstSegmentSinceDay(untilDay, cursor);
    const hasOffers = fromDay >= this.#database.value<number>('SELECT offers_from_day FROM retention')!;
    const counters = this.#readCounters(range, ledgerStartPosition);
    this.#archive.startSegment({ wallMs, untilDay, ledgerStartPosition, hasOffers }, counters);
    this.#unfinished = { ...range, isChanged: false, restarts: isSame ? before.restarts + 1 : 0 };
    return this.#unfinished;
  }

  *#readCounters(days: DayRange, ledgerStartPosition: number): ArchivedCounters {
    const { fromDay, untilDay } = days;
    yield* this.#state.counters.readDays(fromDay, untilDay, this.#listTagsToArchive(days));
    const deleted = { fromPosition: this.#archive.ledgerStartPosition, untilPosition: ledgerStartPosition };
    yield* this.#state.experimentSums.archive.read(days, deleted);
  }

  /** Yields the numbers of the tags with sessions on the days, or of all tags if the sessions of some days may be deleted. */
  *#listTagsToArchive({ fromDay }: DayRange): Generator<number, void> {
    const database = this.#database;
    const day = database.value<number>('SELECT min(day) FROM cohort_piece WHERE day >= ?', [fromDay]);
    const findTag =
      fromDay >= this.#firstRetainedDay
        ? (after: number) =>
            database.value<number>('SELECT min(tag_number) FROM cohort_piece WHERE day = ? AND tag_number > ?', [
              day,
              after,
            ])
        : (after: number) => database.value<number>('SELECT min(number) FROM referrer_tag WHERE number > ?', [after]);
    for (let tag = findTag(0); tag !== null; tag = findTag(tag)) yield tag;
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
