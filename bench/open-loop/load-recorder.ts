import { createHistogram, type RecordableHistogram } from 'node:perf_hooks';
import { percentilesMs } from '../statistics.ts';
import type { OpenLoopResult } from './open-loop-plan.ts';

/** Largest time that the histogram can record, in microseconds. */
const highestMicros = 120_000_000;

/** Counts the results of requests that are scheduled after the warm-up. */
export class LoadRecorder {
  readonly #expectedStatuses: ReadonlySet<number>;
  readonly #countedFromMs: number;
  #endMs = Number.POSITIVE_INFINITY;
  readonly #latency = createLatencyHistogram();
  readonly #lag = createLatencyHistogram();
  #due = 0;
  #expected = 0;
  #refused = 0;
  #answered = 0;
  #expectedInTime = 0;
  #failed = 0;

  /** @param countedFromMs end of the warm-up on the client's clock */
  constructor(expectedStatuses: Iterable<number>, countedFromMs: number) {
    this.#expectedStatuses = new Set(expectedStatuses);
    this.#countedFromMs = countedFromMs;
  }

  /** Counts a scheduled request, and records how late the client handled the request. */
  countScheduledRequest(dueMs: number, nowMs: number): void {
    if (!this.#isAfterWarmUp(dueMs)) return;
    this.#due++;
    this.#lag.record(toMicros(nowMs - dueMs));
  }

  countResponse(dueMs: number, nowMs: number, status: number): void {
    this.#answered++;
    if (!this.#isAfterWarmUp(dueMs)) return;
    if (this.#expectedStatuses.has(status)) {
      this.#expected++;
      if (nowMs <= this.#endMs) this.#expectedInTime++;
      this.#latency.record(toMicros(nowMs - dueMs));
    } else if (status === 429 || status === 503) this.#refused++;
    else this.#failed++;
  }

  /** Counts a failed request. `waited` is true if the client waited for a reply until the deadline. */
  countFailure(dueMs: number, nowMs: number, waited: boolean): void {
    if (!this.#isAfterWarmUp(dueMs)) return;
    this.#failed++;
    if (waited) this.#latency.record(toMicros(nowMs - dueMs));
  }

  /** Ends the schedule. Replies after `endMs` do not count towards the throughput. */
  setMeasurementEnd(endMs: number): void {
    this.#endMs = endMs;
  }

  getLoadResult(): Omit<OpenLoopResult, 'busy'> {
    const seconds = (this.#endMs - this.#countedFromMs) / 1_000;
    return {
      due: this.#due,
      expected: this.#expected,
      refused: this.#refused,
      failed: this.#failed,
      achievedPerSecond: seconds > 0 ? this.#expectedInTime / seconds : 0,
      latencyMs: percentilesMs(this.#latency),
      lagMs: percentilesMs(this.#lag),
      answered: this.#answered,
    };
  }

  #isAfterWarmUp(dueMs: number): boolean {
    return dueMs >= this.#countedFromMs;
  }
}

function createLatencyHistogram(): RecordableHistogram {
  return createHistogram({ lowest: 1, highest: highestMicros, figures: 3 });
}

function toMicros(ms: number): number {
  return Math.min(highestMicros, Math.max(1, Math.round(ms * 1_000)));
}
