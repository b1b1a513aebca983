import type { Clock } from '../../src/domain/clock.ts';

/** A clock whose hands the test moves. Wall and monotonic time advance together; only the wall clock can be set. */
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

  /** As an operator or NTP does: monotonic time takes no notice. */
  setWall(wallMs: number): void {
    this.#wallMs = wallMs;
  }
}
