const windowMs = 60_000;
const visitorsMax = 10_000;

/**
 * Limits the pages per minute of each client address. Each page uses requests and sessions of the API key, which are limited,
 * so a single bot must not exhaust them.
 */
export class VisitorRateLimiter {
  readonly #pagesPerMinute: number;
  /** Window of each address, in the order of their start times. */
  readonly #windows = new Map<string, { pages: number; readonly endsAtMs: number }>();

  constructor(pagesPerMinute: number) {
    this.#pagesPerMinute = pagesPerMinute;
  }

  /** Counts a page. Returns 0, or the seconds until the next page is allowed. `nowMs` must not decrease between calls. */
  retryAfterSeconds(address: string, nowMs: number): number {
    for (const [known, { endsAtMs }] of this.#windows) {
      // The map starts with the oldest windows, which expire first.
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
