import { type EventLoopUtilization, performance } from 'node:perf_hooks';
import { bounds } from '../bounds.ts';
import { systemClock } from '../domain/clock.ts';
import { BucketHistogram } from './bucket-tally.ts';
import { loopDelayBuckets } from './scales.ts';

/**
 * How late the event loop comes to what is due, as a tally that only ever grows. Node's own monitor of it holds extremes and
 * percentiles since its last reset: reset at every scrape, each of two scrapers would see half of what happened; never reset,
 * nothing would ever look well again. Of a tally each reader takes the difference since it last looked.
 */
export class EventLoopMonitor {
  readonly delays = new BucketHistogram(loopDelayBuckets);
  #dueMs = 0;
  #timer: NodeJS.Timeout;

  constructor() {
    this.#timer = this.#scheduleSample();
  }

  /** Milliseconds since the start that the loop had work, and those it waited. */
  utilization(): EventLoopUtilization {
    return performance.eventLoopUtilization();
  }

  /** Idempotent. */
  close(): void {
    clearTimeout(this.#timer);
  }

  #scheduleSample(): NodeJS.Timeout {
    this.#dueMs = systemClock.monotonicMs() + bounds.loopDelaySampleIntervalMs;
    return setTimeout(() => {
      this.delays.observe(Math.max(0, Math.round((systemClock.monotonicMs() - this.#dueMs) * 1000)));
      this.#timer = this.#scheduleSample();
    }, bounds.loopDelaySampleIntervalMs);
  }
}
