import type { Database, Statement } from 'better-sqlite3';
import type { LogCursor } from '../events/log-reader.ts';
import type { RetainedSessions } from './kept-sessions.ts';
import type { ProjectionState } from './ledger-fold.ts';
import type { LedgerSegmentIndex } from './ledger-segments.ts';
import type { CounterArchive } from './sealed-figures.ts';
import type { DailyCounters } from './stored-counters.ts';

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

  constructor(database: Database, retainedSessions: RetainedSessions, counters: DailyCounters, segments: LedgerSegmentIndex) {
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
  restoreArchive(sealed: CounterArchive, numbers: Pick<ProjectionState, 'assignExperimentNumber' | 'assignLenderNumber'>): void {
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
