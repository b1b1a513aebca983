import { randomBytes } from 'node:crypto';
import type { OfferMark } from './session-pairs.ts';

/**
 * An offer with a daily cap (docs/contract.md#daily-caps) and its booked clicks. Two days are counted, so that a wall clock set back over
 * midnight finds the count it left.
 */
export class CappedOffer {
  /** Null until the catalog that gives it comes into use. */
  cap: number | null = null;
  /** Wall time at which the catalog in use no longer had the offer; null while it does. Its cap holds on for the links shown. */
  departedMs: number | null = null;
  readonly mark: OfferMark;
  readonly #days = [-1, -1];
  readonly #counts = [0, 0];

  constructor() {
    const bits = randomBytes(8);
    this.mark = { high: bits.readUInt32BE(0), low: bits.readUInt32BE(4) };
  }

  booked(day: number): number {
    return this.#days[day & 1] === day ? this.#counts[day & 1]! : 0;
  }

  book(day: number): void {
    this.#counts[day & 1] = this.booked(day) + 1;
    this.#days[day & 1] = day;
  }

  isFull(day: number): boolean {
    return this.cap !== null && this.booked(day) >= this.cap;
  }
}
