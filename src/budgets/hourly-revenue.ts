import { dayStartMs, daysSinceEpoch, msPerDay } from '../domain/calendar.ts';

export const hoursPerDay = 24;
export const msPerHour = msPerDay / hoursPerDay;

/** Revenue of one UTC day by hour, in micro-dollars, in a snapshot. */
export interface StoredHourlyRevenue {
  readonly day: number;
  readonly micros: number[];
}

/** Booked revenue of the last UTC day with revenue, by hour. */
export class HourlyRevenue {
  #stored: StoredHourlyRevenue | null;

  /** @param stored result of `toStored` in an earlier run of the service */
  constructor(stored: StoredHourlyRevenue | null = null) {
    this.#stored = stored;
  }

  /** Adds revenue to its hour. Ignores revenue of an earlier day than the last one. */
  add(clickedMs: number, micros: number): void {
    const day = daysSinceEpoch(clickedMs);
    if (this.#stored !== null && day < this.#stored.day) return;
    if (this.#stored?.day !== day) this.#stored = { day, micros: Array<number>(hoursPerDay).fill(0) };
    this.#stored.micros[Math.floor((clickedMs - dayStartMs(day)) / msPerHour)]! += micros;
  }

  /** Returns the revenue of each hour of a day; null if the sum is not `bookedMicros`, because the revenue of some hours is unknown. */
  find(day: number, bookedMicros: number): readonly number[] | null {
    const micros = this.#stored?.day === day ? this.#stored.micros : Array<number>(hoursPerDay).fill(0);
    return micros.reduce((sum, hour) => sum + hour, 0) === bookedMicros ? micros : null;
  }

  toStored(): StoredHourlyRevenue | null {
    return this.#stored;
  }
}
