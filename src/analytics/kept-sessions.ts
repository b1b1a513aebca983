import type { Database, Statement } from 'better-sqlite3';
import { dayOf } from '../domain/calendar.ts';
import { decodeSubId } from '../sessions/sub-id.ts';
import { firstKeyOfDay, type SubIdKey } from './ledger-fold.ts';

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
