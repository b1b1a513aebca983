import type { Clock } from '../domain/clock.ts';

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
