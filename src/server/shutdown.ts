import type { Clock } from '../domain/clock.ts';

/** Undoes a start in reverse order: what was opened last is closed first. */
export class CleanupStack {
  readonly #callbacks: (() => unknown)[] = [];
  #closePromise: Promise<void> | null = null;

  defer(close: () => unknown): void {
    this.#callbacks.push(close);
  }

  /** Closes everything even when one closing fails, then throws the first failure. Idempotent. */
  close(): Promise<void> {
    this.#closePromise ??= this.#runCallbacks();
    return this.#closePromise;
  }

  async #runCallbacks(): Promise<void> {
    const failures: unknown[] = [];
    for (const close of this.#callbacks.reverse()) {
      try {
        await close();
      } catch (failure) {
        failures.push(failure);
      }
    }
    if (failures.length > 0) throw failures[0];
  }
}

export interface DrainTimes {
  /** How long the service goes on accepting connections once it is to stop, so that whoever balances the load can notice. */
  readonly delayMs: number;
  /** From when it accepts no more to when what is still unanswered is given up. */
  readonly deadlineMs: number;
}

/** The time that a stopping service has, one deadline for all of its listeners. */
export class DrainTimer {
  readonly #clock: Clock;
  #times: DrainTimes;
  #startedMs: number;

  constructor(clock: Clock, times: DrainTimes) {
    this.#clock = clock;
    this.#times = times;
    this.#startedMs = clock.monotonicMs();
  }

  /** Starts the time. */
  start(): void {
    this.#startedMs = this.#clock.monotonicMs();
  }

  /** Nothing is waited for any more by whatever closes from now on. */
  expire(): void {
    this.#times = { delayMs: 0, deadlineMs: 0 };
  }

  get delayMs(): number {
    return this.#times.delayMs;
  }

  /** What is left of the deadline. */
  get remainingMs(): number {
    const { delayMs, deadlineMs } = this.#times;
    const goneMs = Math.max(0, this.#clock.monotonicMs() - this.#startedMs - delayMs);
    return Math.max(0, deadlineMs - goneMs);
  }
}
