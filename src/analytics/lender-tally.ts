import type { LenderMetrics } from './analytics.ts';

/** Adds counted clicks up by lender. */
export class LenderAccumulator {
  readonly #lenders = new Map<number, { clicks: number; confirmedMicros: number }>();

  addClick(lender: number, confirmedMicros: number): void {
    const sum = this.#lenders.get(lender);
    if (sum === undefined) {
      this.#lenders.set(lender, { clicks: 1, confirmedMicros });
    } else {
      sum.clicks++;
      sum.confirmedMicros += confirmedMicros;
    }
  }

  /**
   * By clicks descending, then name. Names are in the order of their UTF-8 bytes, as SQLite compares them, so that every
   * way of asking orders alike.
   */
  result(nameOf: (lender: number) => string): LenderMetrics[] {
    return [...this.#lenders]
      .map(([lender, sums]) => ({ lender: nameOf(lender), ...sums }))
      .sort((a, b) => b.clicks - a.clicks || Buffer.compare(Buffer.from(a.lender), Buffer.from(b.lender)));
  }
}
