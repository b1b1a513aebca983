import type { Database, Statement } from 'better-sqlite3';
import type { LogCursor } from '../events/log-reader.ts';
import type { KeptSessions } from './kept-sessions.ts';
import type { FoldPast } from './ledger-fold.ts';
import type { LedgerSegments } from './ledger-segments.ts';
import type { SealedFigures } from './sealed-figures.ts';
import type { StoredCounters } from './stored-counters.ts';

/** From when on sessions are too old to be kept. */
export interface Age {
  /** As the clock has it (day number). */
  readonly today: number;
  /** How many days back they are kept. */
  readonly days: number;
  /** When that is looked at. */
  readonly wallMs: number;
}

/** Decides which days the store gives up, and has it do so in step with what is sealed. */
export class StoreRetention {
  readonly #database: Database;
  readonly #kept: KeptSessions;
  readonly #counters: StoredCounters;
  readonly #segments: LedgerSegments;
  readonly #cohortBefore: Statement<[number], number | null>;
  readonly #cohortFrom: Statement<[number], number | null>;

  constructor(database: Database, kept: KeptSessions, counters: StoredCounters, segments: LedgerSegments) {
    this.#database = database;
    this.#kept = kept;
    this.#counters = counters;
    this.#segments = segments;
    this.#cohortBefore = database
      .prepare<[number], number | null>('SELECT max(day) FROM cohort_piece WHERE day < ?')
      .pluck();
    this.#cohortFrom = database
      .prepare<[number], number | null>('SELECT min(day) FROM cohort_piece WHERE day >= ?')
      .pluck();
  }

  /**
   * Gives up the sessions that have come of age, if there are any: seals the counters of their days, as the records followed so
   * far make them, and keeps them no longer. Throws what `SealedFigures.seal` does; then nothing has changed.
   */
  seal(sealed: SealedFigures, age: Age, cursor: LogCursor): void {
    // Were sealings lost, the store still has their counters, and they are sealed once more.
    const untilDay = Math.max(this.#dayToKeepFrom(age), this.#kept.fromDay);
    if (untilDay <= sealed.keptFromDay) return;
    const { wallMs } = age;
    const ledgerFrom = this.#firstSegmentWith(untilDay, cursor);
    const counters = this.#counters.between(sealed.keptFromDay, untilDay);
    sealed.seal({ wallMs, untilDay, ledgerFrom }, counters);
    this.#database.transaction(() => this.#keepFrom(untilDay)).immediate();
  }

  /** Takes over what was sealed, if the store does not know of it: it is new, or older than the last sealing. */
  adopt(sealed: SealedFigures, numbers: Pick<FoldPast, 'experimentNumber' | 'lenderNumber'>): void {
    const { keptFromDay } = sealed;
    if (keptFromDay <= this.#kept.fromDay) return;
    this.#database
      .transaction(() => {
        this.#counters.replace(keptFromDay, sealed.records(), numbers);
        this.#keepFrom(keptFromDay);
      })
      .immediate();
  }

  /**
   * What comes before this position of the ledger is not needed, neither by the store nor to derive it from nothing. The
   * ledger as it is now decides: it may have begun anew since the last sealing.
   */
  neededFrom(sealed: SealedFigures, cursor: LogCursor): number {
    return Math.min(sealed.ledgerFrom, this.#firstSegmentWith(sealed.keptFromDay, cursor));
  }

  /**
   * 0 when there is nothing to give up. Days must have passed by the sessions of the ledger, too, and not just by one day's: or
   * a single start with a clock that is months ahead would give up everything.
   */
  #dayToKeepFrom({ today, days }: Age): number {
    const newest = this.#cohortBefore.get(Number.MAX_SAFE_INTEGER) ?? null;
    const beforeNewest = newest === null ? null : (this.#cohortBefore.get(newest) ?? null);
    const oldest = this.#cohortFrom.get(this.#kept.fromDay) ?? null;
    if (oldest === null || beforeNewest === null) return 0;
    const day = Math.min(today, beforeNewest + 1) - days;
    return oldest < day ? day : 0;
  }

  #firstSegmentWith(day: number, { segment }: LogCursor): number {
    return Math.min(segment, this.#segments.firstWith(day) ?? segment);
  }

  #keepFrom(day: number): void {
    this.#kept.keepFrom(day);
    this.#segments.forgetBefore(day);
  }
}
