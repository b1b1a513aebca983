import { randomBytes } from 'node:crypto';
import type { RandomOfferId } from './session-pairs.ts';

/**
 * An offer with a daily cap (docs/contract.md#daily-caps) and its booked clicks. Two days are counted, so that a wall clock set back over
 * midnight finds the count it left.
 */
export class OfferCapState {
  /** Null until the catalog that gives it comes into use. */
  dailyCap: number | null = null;
  /** Wall time at which the catalog in use no longer had the offer; null while it does. Its cap holds on for the links shown. */
  removedMs: number | null = null;
  readonly randomId: RandomOfferId;
  readonly #days = [-1, -1];
  readonly #counts = [0, 0];

  constructor() {
    const bits = randomBytes(8);
    this.randomId = { high: bits.readUInt32BE(0), low: bits.readUInt32BE(4) };
  }

  bookedClicks(day: number): number {
    return this.#days[day & 1] === day ? this.#counts[day & 1]! : 0;
  }

  bookClick(day: number): void {
    this.#counts[day & 1] = this.bookedClicks(day) + 1;
    this.#days[day & 1] = day;
  }

  isAtCap(day: number): boolean {
    return this.dailyCap !== null && this.bookedClicks(day) >= this.dailyCap;
  }
}
