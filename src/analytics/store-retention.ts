import type { Database, Statement } from 'better-sqlite3';
import { bounds } from '../bounds.ts';
import { dayOf } from '../domain/calendar.ts';
import type { LogCursor } from '../event-log/log-reader.ts';
import { decodeSubId } from '../ids/sub-id.ts';
import type { LedgerSegmentIndex } from './batch-writer.ts';
import type { CounterArchive } from './counter-archive.ts';
import type { DailyCounters } from './daily-counters.ts';
import { firstKeyOfDay, type ProjectionState, type SubIdKey } from './ledger-projection.ts';

/**
 * Which sessions the store keeps: those created from some day on. Of an older one the counters are sealed, and it is as good
 * as gone from the moment that day is set, for the fold as for every answer, whenever its rows go (`SessionPruner`).
 */
export class RetainedSessions {
  readonly #updateFromDay: Statement<[number]>;
  #fromDay: number;
  #fromKey: SubIdKey;

  constructor(database: Database) {
    this.#updateFromDay = database.prepare('UPDATE retention SET kept_from_day = ?');
    this.#fromDay = database.prepare<[], number>('SELECT kept_from_day FROM retention').pluck().get()!;
    this.#fromKey = firstRetainedKey(this.#fromDay);
  }

  /** The first day (day number) whose sessions are kept; 0 when all are. */
  get fromDay(): number {
    return this.#fromDay;
  }

  /** As `ProjectionState.keptFrom`. */
  get fromKey(): SubIdKey {
    return this.#fromKey;
  }

  isRetained(sub: Uint8Array): boolean {
    return dayOf(decodeSubId(sub).createdMs) >= this.#fromDay;
  }

  /** Within a transaction; should that fail, this object is ahead of the file, and must not be used any more. */
  retainFrom(day: number): void {
    this.#updateFromDay.run(day);
    this.#fromDay = day;
    this.#fromKey = firstRetainedKey(day);
  }
}

/** None is smaller than the empty key: while all are kept, no record need be looked at. */
function firstRetainedKey(day: number): SubIdKey {
  return day === 0 ? '' : firstKeyOfDay(day);
}

/** Removes the rows of sessions that are not kept, little by little, so that nobody waits for it. */
export class SessionPruner {
  readonly #retainedSessions: RetainedSessions;
  readonly #selectPrunable: Statement<[Buffer, number], [sub: Buffer, position: number, clicks: number]>;
  readonly #deleteSessions: Statement<[Buffer]>;
  readonly #deleteCohortPieces: Statement<[number, number]>;
  readonly #deleteMetadata: Statement<[number]>;
  readonly #deleteClicks: Statement<[number]>;
  readonly #deletePayouts: Statement<[number]>;
  readonly #pruneBatch: () => boolean;
  /** Up to this day none is left. What an earlier process has left to do shows at the first look. */
  #prunedUntilDay = 0;

  constructor(database: Database, retainedSessions: RetainedSessions) {
    this.#retainedSessions = retainedSessions;
    this.#selectPrunable = database
      .prepare<[Buffer, number], [Buffer, number, number]>(
        'SELECT sub, position, clicks FROM session WHERE sub < ? ORDER BY sub LIMIT ?',
      )
      .raw();
    this.#deleteSessions = database.prepare('DELETE FROM session WHERE sub <= ?');
    this.#deleteCohortPieces = database.prepare(`
      DELETE FROM cohort_piece WHERE (day, experiment, last_position) IN
        (SELECT day, experiment, last_position FROM cohort_piece WHERE day < ? LIMIT ?)`);
    this.#deleteMetadata = database.prepare('DELETE FROM session_metadata WHERE session = ?');
    this.#deleteClicks = database.prepare('DELETE FROM click WHERE session = ?');
    this.#deletePayouts = database.prepare('DELETE FROM payout WHERE session = ?');
    this.#pruneBatch = database.transaction(() => this.#deleteBatch()).immediate;
  }

  /** Whether rows may be left. */
  get hasRowsToPrune(): boolean {
    return this.#prunedUntilDay < this.#retainedSessions.fromDay;
  }

  /** Removes some rows, in a transaction of its own. Killed at any moment, it goes on another time. */
  pruneRows(): void {
    if (!this.#pruneBatch()) this.#prunedUntilDay = this.#retainedSessions.fromDay;
  }

  /** Whether there may be more. */
  #deleteBatch(): boolean {
    const most = bounds.sessionsPrunedPerTransaction;
    const sessions = this.#selectPrunable.all(Buffer.from(this.#retainedSessions.fromKey, 'latin1'), most);
    for (const [, position, clicks] of sessions) {
      this.#deleteMetadata.run(position);
      if (clicks === 0) continue;
      this.#deleteClicks.run(position);
      this.#deletePayouts.run(position);
    }
    const last = sessions.at(-1);
    if (last !== undefined) this.#deleteSessions.run(last[0]);
    const pieces = this.#deleteCohortPieces.run(this.#retainedSessions.fromDay, most).changes;
    return sessions.length === most || pieces === most;
  }
}

/** From when on sessions are too old to be kept. */
export interface RetentionRequest {
  /** As the clock has it (day number). */
  readonly today: number;
  /** How many days back they are kept. */
  readonly retentionDays: number;
  /** When that is looked at. */
  readonly wallMs: number;
}

/** Decides which days the store gives up, and has it do so in step with what is sealed. */
export class StoreRetention {
  readonly #database: Database;
  readonly #retainedSessions: RetainedSessions;
  readonly #counters: DailyCounters;
  readonly #segments: LedgerSegmentIndex;
  readonly #selectNewestDayBefore: Statement<[number], number | null>;
  readonly #selectOldestDayFrom: Statement<[number], number | null>;

  constructor(
    database: Database,
    retainedSessions: RetainedSessions,
    counters: DailyCounters,
    segments: LedgerSegmentIndex,
  ) {
    this.#database = database;
    this.#retainedSessions = retainedSessions;
    this.#counters = counters;
    this.#segments = segments;
    this.#selectNewestDayBefore = database
      .prepare<[number], number | null>('SELECT max(day) FROM cohort_piece WHERE day < ?')
      .pluck();
    this.#selectOldestDayFrom = database
      .prepare<[number], number | null>('SELECT min(day) FROM cohort_piece WHERE day >= ?')
      .pluck();
  }

  /**
   * Gives up the sessions that have come of age, if there are any: seals the counters of their days, as the records followed so
   * far make them, and keeps them no longer. Throws what `CounterArchive.seal` does; then nothing has changed.
   */
  apply(sealed: CounterArchive, age: RetentionRequest, cursor: LogCursor): void {
    // Were sealings lost, the store still has their counters, and they are sealed once more.
    const untilDay = Math.max(this.#firstRetainedDay(age), this.#retainedSessions.fromDay);
    if (untilDay <= sealed.retainedFromDay) return;
    const { wallMs } = age;
    const ledgerFromPosition = this.#firstSegmentSince(untilDay, cursor);
    const counters = this.#counters.readDays(sealed.retainedFromDay, untilDay);
    sealed.append({ wallMs, untilDay, ledgerFromPosition }, counters);
    this.#database.transaction(() => this.#retainFrom(untilDay)).immediate();
  }

  /** Takes over what was sealed, if the store does not know of it: it is new, or older than the last sealing. */
  restoreArchive(
    sealed: CounterArchive,
    numbers: Pick<ProjectionState, 'assignExperimentNumber' | 'assignLenderNumber'>,
  ): void {
    const { retainedFromDay } = sealed;
    if (retainedFromDay <= this.#retainedSessions.fromDay) return;
    this.#database
      .transaction(() => {
        this.#counters.replaceBefore(retainedFromDay, sealed.readAll(), numbers);
        this.#retainFrom(retainedFromDay);
      })
      .immediate();
  }

  /**
   * What comes before this position of the ledger is not needed, neither by the store nor to derive it from nothing. The
   * ledger as it is now decides: it may have begun anew since the last sealing.
   */
  firstNeededPosition(sealed: CounterArchive, cursor: LogCursor): number {
    return Math.min(sealed.ledgerFromPosition, this.#firstSegmentSince(sealed.retainedFromDay, cursor));
  }

  /**
   * 0 when there is nothing to give up. Days must have passed by the sessions of the ledger, too, and not just by one day's: or
   * a single start with a clock that is months ahead would give up everything.
   */
  #firstRetainedDay({ today, retentionDays }: RetentionRequest): number {
    const newest = this.#selectNewestDayBefore.get(Number.MAX_SAFE_INTEGER) ?? null;
    const beforeNewest = newest === null ? null : (this.#selectNewestDayBefore.get(newest) ?? null);
    const oldest = this.#selectOldestDayFrom.get(this.#retainedSessions.fromDay) ?? null;
    if (oldest === null || beforeNewest === null) return 0;
    const day = Math.min(today, beforeNewest + 1) - retentionDays;
    return oldest < day ? day : 0;
  }

  #firstSegmentSince(day: number, { segment }: LogCursor): number {
    return Math.min(segment, this.#segments.firstSegmentSince(day) ?? segment);
  }

  #retainFrom(day: number): void {
    this.#retainedSessions.retainFrom(day);
    this.#segments.deleteBefore(day);
  }
}
