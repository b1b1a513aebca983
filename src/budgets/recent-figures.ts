/** Figures of an offer in one UTC day or month. For a month, only `micros` is used. */
export interface PeriodFigures {
  /** Number of clicks that booked revenue. */
  clicks: number;
  micros: number;
  /** Whether a click booked nothing because its amount did not fit into the budget. */
  hasRefusedClick: boolean;
}

/**
 * Figures by the number of a UTC day or month, for the latest days or months with clicks. The class stores several periods, because the
 * wall clock may be wrong for some time before it is set back.
 */
export class RecentFigures {
  readonly #byPeriod = new Map<number, PeriodFigures>();
  readonly #periodsMax: number;
  /** The figures of earlier periods are unknown. */
  #knownSince: number;

  constructor(periodsMax: number, knownSince: number) {
    this.#periodsMax = periodsMax;
    this.#knownSince = knownSince;
  }

  get figuresByPeriod(): readonly (readonly [period: number, figures: PeriodFigures])[] {
    return [...this.#byPeriod];
  }

  /** Whether the stored figures of the period may be incomplete or missing. */
  isPeriodUnknown(period: number): boolean {
    return period < this.#knownSince;
  }

  find(period: number): PeriodFigures | undefined {
    return this.#byPeriod.get(period);
  }

  /**
   * Returns the figures of a period, or null if they are unknown. Adds a new period to the stored periods. If there are then too many,
   * deletes the figures of the earliest period; these figures become unknown.
   */
  findOrAddPeriod(period: number): PeriodFigures | null {
    const stored = this.#byPeriod.get(period);
    if (stored !== undefined) return stored;
    if (this.isPeriodUnknown(period)) return null;
    this.#byPeriod.set(period, { clicks: 0, micros: 0, hasRefusedClick: false });
    if (this.#byPeriod.size > this.#periodsMax) {
      const earliest = Math.min(...this.#byPeriod.keys());
      this.#byPeriod.delete(earliest);
      this.#knownSince = earliest + 1;
    }
    return this.#byPeriod.get(period) ?? null;
  }
}
