/** A session's place in the day it was asked for, held while the session is being created. */
export interface DaySlot {
  /** Gives the place back to the day it was taken from, once: no session was created. */
  giveBack(): void;
}

/**
 * How many sessions one key created on a UTC day (docs/contract.md#sessions-per-day), by day number.
 *
 * Two days are kept, a place of the ring each, so that a place taken before midnight is given back to the day before, and
 * a wall clock set back over midnight finds the count it left.
 */
export class DayCount {
  readonly #days = [-1, -1];
  readonly #counts = [0, 0];

  count(day: number): number {
    return this.#days[day & 1] === day ? (this.#counts[day & 1] as number) : 0;
  }

  /** Counts one more at once; the caller has compared `count` with the limit. */
  reserve(day: number): DaySlot {
    this.#set(day, this.count(day) + 1);
    return new ReservedSlot(this, day);
  }

  /** Takes back one of this day. A day no longer kept has nothing left to limit. */
  giveBack(day: number): void {
    const count = this.count(day);
    if (count > 0) this.#set(day, count - 1);
  }

  /** Sets a day's count from the ledger, before the first request. */
  restore(day: number, count: number): void {
    this.#set(day, count);
  }

  #set(day: number, count: number): void {
    this.#days[day & 1] = day;
    this.#counts[day & 1] = count;
  }
}

class ReservedSlot implements DaySlot {
  #from: DayCount | null;
  readonly #day: number;

  constructor(from: DayCount, day: number) {
    this.#from = from;
    this.#day = day;
  }

  giveBack(): void {
    this.#from?.giveBack(this.#day);
    this.#from = null;
  }
}
