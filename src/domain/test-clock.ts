import { msPerDay } from './calendar.ts';
import type { Clock } from './clock.ts';

/**
 * Clock whose wall time is a number of whole days ahead of another clock. The number of days only increases. Monotonic time is that of the
 * other clock, so windows of one minute last one minute.
 */
export class TestClock implements Clock {
  readonly #clock: Clock;
  #advancedDays: number;

  constructor(clock: Clock, advancedDays: number) {
    this.#clock = clock;
    this.#advancedDays = advancedDays;
  }

  get advancedDays(): number {
    return this.#advancedDays;
  }

  wallMs(): number {
    return this.#clock.wallMs() + this.#advancedDays * msPerDay;
  }

  monotonicMs(): number {
    return this.#clock.monotonicMs();
  }

  advanceOneDay(): void {
    this.#advancedDays++;
  }
}
