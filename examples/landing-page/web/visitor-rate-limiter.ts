const windowMs = 60_000;
const visitorsMax = 10_000;

/**
 * How many pages a minute one address may have. Each page costs requests and sessions of our API key, which are limited: one
 * busy robot must not use up what the visitors need.
 */
export class VisitorRateLimiter {
  readonly #pagesPerMinute: number;
  /** In the order in which the windows began. */
  readonly #windows = new Map<string, { pages: number; readonly endsAtMs: number }>();

  constructor(pagesPerMinute: number) {
    this.#pagesPerMinute = pagesPerMinute;
  }

  /** Zero when the page may be answered, or else the seconds until the next one may. `nowMs` never goes back. */
  retryAfterSeconds(address: string, nowMs: number): number {
    for (const [known, { endsAtMs }] of this.#windows) {
      // The oldest addresses go first, for they are over soonest.
      if (endsAtMs > nowMs && this.#windows.size <= visitorsMax) break;
      this.#windows.delete(known);
    }
    const window = this.#windows.get(address) ?? { pages: 0, endsAtMs: nowMs + windowMs };
    if (window.pages >= this.#pagesPerMinute) return Math.ceil((window.endsAtMs - nowMs) / 1_000);
    window.pages++;
    this.#windows.set(address, window);
    return 0;
  }
}
