import { bounds } from '../bounds.ts';

/** Times kept at first; a key that asks a few times an hour never needs more. */
const initialCapacity = 8;

/**
 * Exact sliding window (docs/contract.md#minute-windows): at most `limit` admitted times lie within one span of `windowMs`, its
 * end excluded. What it refuses leaves no trace.
 *
 * The admitted times stand in a ring, oldest first. It grows by doubling up to `limit` and is let go when the window has
 * emptied. Times come from the monotonic clock, so they never go down from call to call.
 */
export class SlidingWindow {
  readonly limit: number;
  readonly #windowMs: number;
  #admittedMs: Float64Array | null = null;
  #oldestIndex = 0;
  #count = 0;

  constructor(limit: number, windowMs: number = bounds.rateLimitWindowMs) {
    this.limit = limit;
    this.#windowMs = windowMs;
  }

  /** How many requests would be admitted right now. Forgets times that have left the window: each is looked at once. */
  remaining(nowMs: number): number {
    const times = this.#admittedMs;
    if (times !== null && this.#count > 0) {
      if (this.#isExpired(this.#newestMs(times), nowMs)) {
        this.#count = 0;
      } else {
        while (this.#isExpired(times[this.#oldestIndex] as number, nowMs)) {
          this.#oldestIndex = this.#oldestIndex + 1 === times.length ? 0 : this.#oldestIndex + 1;
          this.#count--;
        }
      }
    }
    return this.limit - this.#count;
  }

  /** Admits a request. Only to be called when `remaining` has just said that it fits. */
  admit(nowMs: number): void {
    let times = this.#admittedMs;
    if (times === null || this.#count === times.length) times = this.#grow(times);
    const at = this.#oldestIndex + this.#count;
    times[at < times.length ? at : at - times.length] = nowMs;
    this.#count++;
  }

  /** Milliseconds until a request will be admitted; 0 when one would be now. */
  retryAfterMs(nowMs: number): number {
    if (this.#admittedMs === null || this.remaining(nowMs) > 0) return 0;
    return (this.#admittedMs[this.#oldestIndex] as number) + this.#windowMs - nowMs;
  }

  /** Milliseconds until the whole limit is free again; 0 when it is now. */
  resetMs(nowMs: number): number {
    if (this.#admittedMs === null || this.remaining(nowMs) === this.limit) return 0;
    return this.#newestMs(this.#admittedMs) + this.#windowMs - nowMs;
  }

  /** Lets the ring go when the window is empty; says whether it is. */
  releaseIfEmpty(nowMs: number): boolean {
    if (this.remaining(nowMs) < this.limit) return false;
    this.#admittedMs = null;
    this.#oldestIndex = 0;
    return true;
  }

  #isExpired(admittedMs: number, nowMs: number): boolean {
    return nowMs - admittedMs >= this.#windowMs;
  }

  #newestMs(times: Float64Array): number {
    const at = this.#oldestIndex + this.#count - 1;
    return times[at < times.length ? at : at - times.length] as number;
  }

  #grow(times: Float64Array | null): Float64Array {
    if (this.#count >= this.limit) throw new RangeError('a request was taken that does not fit the window');
    const grown = new Float64Array(Math.min(this.limit, times === null ? initialCapacity : times.length * 2));
    if (times !== null) {
      grown.set(times.subarray(this.#oldestIndex));
      grown.set(times.subarray(0, this.#oldestIndex), times.length - this.#oldestIndex);
    }
    this.#oldestIndex = 0;
    this.#admittedMs = grown;
    return grown;
  }
}
