/** A session's place in the day it was asked for, held while the session is being created. */
export interface QuotaReservation {
  /** Gives the place back to the day it was taken from, once: no session was created. */
  release(): void;
}

/**
 * How many sessions one key created on a UTC day (docs/contract.md#sessions-per-day), by day number.
 *
 * Two days are kept, a place of the ring each, so that a place taken before midnight is given back to the day before, and
 * a wall clock set back over midnight finds the count it left.
 */
export class DailyCounter {
  readonly #days = [-1, -1];
  readonly #counts = [0, 0];

  count(day: number): number {
    return this.#days[day & 1] === day ? (this.#counts[day & 1] as number) : 0;
  }

  /** Counts one more at once; the caller has compared `count` with the limit. */
  reserve(day: number): QuotaReservation {
    this.#setCount(day, this.count(day) + 1);
    return new DailyReservation(this, day);
  }

  /** Takes back one of this day. A day no longer kept has nothing left to limit. */
  release(day: number): void {
    const count = this.count(day);
    if (count > 0) this.#setCount(day, count - 1);
  }

  /** Sets a day's count from the ledger, before the first request. */
  restore(day: number, count: number): void {
    this.#setCount(day, count);
  }

  #setCount(day: number, count: number): void {
    this.#days[day & 1] = day;
    this.#counts[day & 1] = count;
  }
}

class DailyReservation implements QuotaReservation {
  #counter: DailyCounter | null;
  readonly #day: number;

  constructor(counter: DailyCounter, day: number) {
    this.#counter = counter;
    this.#day = day;
  }

  release(): void {
    this.#counter?.release(this.#day);
    this.#counter = null;
  }
}
