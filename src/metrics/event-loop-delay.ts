import { type EventLoopUtilization, performance } from 'node:perf_hooks';
import { bounds } from '../bounds.ts';
import { systemClock } from '../domain/clock.ts';
import { BucketTally } from './bucket-tally.ts';
import { loopDelays } from './scales.ts';

/**
 * How late the event loop comes to what is due, as a tally that only ever grows. Node's own monitor of it holds extremes and
 * percentiles since its last reset: reset at every scrape, each of two scrapers would see half of what happened; never reset,
 * nothing would ever look well again. Of a tally each reader takes the difference since it last looked.
 */
export class EventLoopDelay {
  readonly tally = new BucketTally(loopDelays);
  #dueMs = 0;
  #timer: NodeJS.Timeout;

  constructor() {
    this.#timer = this.#next();
  }

  /** Milliseconds since the start that the loop had work, and those it waited. */
  use(): EventLoopUtilization {
    return performance.eventLoopUtilization();
  }

  /** Idempotent. */
  close(): void {
    clearTimeout(this.#timer);
  }

  #next(): NodeJS.Timeout {
    this.#dueMs = systemClock.monotonicMs() + bounds.loopDelaySampledMs;
    return setTimeout(() => {
      this.tally.observe(Math.max(0, Math.round((systemClock.monotonicMs() - this.#dueMs) * 1000)));
      this.#timer = this.#next();
    }, bounds.loopDelaySampledMs);
  }
}
