/**
 * The offers of a catalog that are at their daily cap (D8): matching leaves them out. A set never changes. Whenever
 * another one holds there is another object, so a ranking is still good while the set it was made with is the one that holds.
 */
export interface ClosedOffers {
  readonly count: number;
  /** Bit `offer & 31` of word `offer >> 5` is set for a closed offer; null when none is closed. */
  readonly bits: Int32Array | null;
}

export const noneClosed: ClosedOffers = { count: 0, bits: null };
