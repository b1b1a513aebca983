import type { Clock } from '../../src/domain/clock.ts';

/** A clock that the test controls. Wall time and monotonic time advance together; only wall time can be set. */
export class ManualClock implements Clock {
  #wallMs: number;
  #monotonicMs = 1_000;

  constructor(wallMs: number = Date.UTC(2026, 4, 20, 12)) {
    this.#wallMs = wallMs;
  }

  wallMs(): number {
    return this.#wallMs;
  }

  monotonicMs(): number {
    return this.#monotonicMs;
  }

  advance(ms: number): void {
    this.#wallMs += ms;
    this.#monotonicMs += ms;
  }

  /** Sets the wall time, as an operator or NTP does. Monotonic time does not change. */
  setWall(wallMs: number): void {
    this.#wallMs = wallMs;
  }
}
