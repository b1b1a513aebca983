import { limits } from './limits.ts';

/**
 * Tells when what is on view has run out. Clocks of visitors are wrong by minutes and years: what counts is how long the
 * server says its answer holds, and how much time has passed here since. That is asked when the time should be over, and
 * whenever somebody comes back to the page, as no timer runs while a machine sleeps or a page is put away.
 */
export class ExpiryTimer {
  readonly #onExpired: () => void;
  #lifetimeMs = Number.POSITIVE_INFINITY;
  #startedWallMs = 0;
  #startedMs = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(onExpired: () => void, ended: AbortSignal) {
    this.#onExpired = onExpired;
    document.addEventListener('visibilitychange', () => this.#check(), { signal: ended });
    addEventListener('pageshow', () => this.#check(), { signal: ended });
    ended.addEventListener('abort', () => this.stop());
  }

  /** Both as the server's clock has them, in ISO 8601; they hold from now on, and nothing before them any more. */
  start(generatedAt: string, expiresAt: string): void {
    const lifetimeMs = Date.parse(expiresAt) - Date.parse(generatedAt);
    this.#lifetimeMs = Number.isNaN(lifetimeMs) ? Number.POSITIVE_INFINITY : lifetimeMs;
    this.#startedWallMs = Date.now();
    this.#startedMs = performance.now();
    this.#check();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#lifetimeMs = Number.POSITIVE_INFINITY;
  }

  #check(): void {
    clearTimeout(this.#timer);
    if (this.#lifetimeMs === Number.POSITIVE_INFINITY) return;
    // In some browsers the one stands still while the machine sleeps; the other can be set back.
    const passedMs = Math.max(performance.now() - this.#startedMs, Date.now() - this.#startedWallMs);
    const leftMs = this.#lifetimeMs - passedMs;
    if (leftMs > 0) {
      this.#timer = setTimeout(() => this.#check(), Math.min(leftMs, limits.timerMsMax));
      return;
    }
    this.stop();
    this.#onExpired();
  }
}
