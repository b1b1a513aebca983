/**
 * Waits for a promise up to a fixed time. Calls within the same tick share one timer, because a separate timer for each click would
 * cost more than the rest of the wait.
 */
export class SharedTimeout {
  readonly #waitMs: number;
  readonly #tickMs: number;
  readonly #timers = new Set<NodeJS.Timeout>();
  #current: Promise<'timeout'> | null = null;

  constructor(waitMs: number, tickMs: number) {
    this.#waitMs = waitMs;
    this.#tickMs = tickMs;
  }

  /** Settles as the promise does. Resolves to `'timeout'` if the time is over first; this may be up to one tick late. */
  wait<Value>(promise: Promise<Value>): Promise<Value | 'timeout'> {
    return Promise.race([promise, this.#currentTimeout()]);
  }

  close(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
    this.#current = null;
  }

  #currentTimeout(): Promise<'timeout'> {
    if (this.#current === null) {
      this.#current = new Promise((resolve) => {
        this.#setTimer(this.#waitMs + this.#tickMs, () => resolve('timeout'));
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
