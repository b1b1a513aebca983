/**
 * Waits for a promise, but not longer than a fixed time. Waiters that begin within the same tick share one timer: a timer
 * for each click would cost more than the rest of its waiting.
 */
export class SharedTimeout {
  readonly #waitMs: number;
  readonly #tickMs: number;
  readonly #timers = new Set<NodeJS.Timeout>();
  #current: Promise<'late'> | null = null;

  constructor(waitMs: number, tickMs: number) {
    this.#waitMs = waitMs;
    this.#tickMs = tickMs;
  }

  /** `'late'` when the promise has not settled after the wait, at most one tick later; else what the promise does. */
  wait<Value>(promise: Promise<Value>): Promise<Value | 'late'> {
    return Promise.race([promise, this.#currentTimeout()]);
  }

  close(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
    this.#current = null;
  }

  #currentTimeout(): Promise<'late'> {
    if (this.#current === null) {
      this.#current = new Promise((resolve) => {
        this.#setTimer(this.#waitMs + this.#tickMs, () => resolve('late'));
      });
      this.#setTimer(this.#tickMs, () => {
        this.#current = null;
      });
    }
    return this.#current;
  }

  #setTimer(ms: number, action: () => void): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      action();
    }, ms);
    this.#timers.add(timer);
  }
}
