/**
 * Offers at their daily cap (docs/contract.md#daily-caps); answers leave them out. A set never changes. Whenever another one
 * applies there is another object, so the total of a ranking is right while the set it was counted with is the one that applies.
 */
export interface UnavailableOffers {
  readonly count: number;
  /** Bit `offer & 31` of word `offer >> 5` is set for a closed offer; null when none is closed. */
  readonly bits: Int32Array | null;
}

export const noUnavailableOffers: UnavailableOffers = { count: 0, bits: null };
