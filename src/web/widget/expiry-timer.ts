import * as widgetLimits from './limits.ts';

/**
 * Calls `onExpired` when the shown offers expire. The visitor's clock can be wrong, so the lifetime of the offers is calculated from two
 * server timestamps. The timer also checks the expiry when the visitor returns to the page, because `setTimeout` does not run while a
 * machine sleeps or a page is suspended.
 */
export class ExpiryTimer {
  readonly #onExpired: () => void;
  #lifetimeMs = Number.POSITIVE_INFINITY;
  #startedWallMs = 0;
  #startedMs = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(onExpired: () => void, ended: AbortSignal) {
    this.#onExpired = onExpired;
    document.addEventListener('visibilitychange', () => this.#checkExpiry(), { signal: ended });
    addEventListener('pageshow', () => this.#checkExpiry(), { signal: ended });
    ended.addEventListener('abort', () => this.stop());
  }

  /**
   * Starts or restarts the expiry timer for new offers. `generatedAt` is the time of the response with the offers, and `expiresAt` is the
   * time at which the offers expire, both according to the server's clock (ISO 8601).
   */
  start(generatedAt: string, expiresAt: string): void {
    const lifetimeMs = Date.parse(expiresAt) - Date.parse(generatedAt);
    this.#lifetimeMs = Number.isNaN(lifetimeMs) ? Number.POSITIVE_INFINITY : lifetimeMs;
    this.#startedWallMs = Date.now();
    this.#startedMs = performance.now();
    this.#checkExpiry();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#lifetimeMs = Number.POSITIVE_INFINITY;
  }

  #checkExpiry(): void {
    clearTimeout(this.#timer);
    if (this.#lifetimeMs === Number.POSITIVE_INFINITY) return;
    // Uses the longer of two measured times, because each clock can measure too little: in some browsers, `performance.now` stops while
    // the machine sleeps, and the clock of `Date.now` can be set back.
    const elapsedMs = Math.max(performance.now() - this.#startedMs, Date.now() - this.#startedWallMs);
    const remainingMs = this.#lifetimeMs - elapsedMs;
    if (remainingMs > 0) {
      this.#timer = setTimeout(() => this.#checkExpiry(), Math.min(remainingMs, widgetLimits.timerMsMax));
      return;
    }
    this.stop();
    this.#onExpired();
  }
}
