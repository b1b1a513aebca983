import { bounds } from '../bounds.ts';

/** Initial capacity of the ring, in requests. It is sufficient for a key with a few requests per hour. */
const initialCapacity = 8;

/**
 * Exact sliding window (docs/contract.md#minute-windows). Admits at most `limit` requests in any period of `windowMs`, whose end is
 * excluded. Rejected requests do not count.
 *
 * The times of admitted requests are stored in a ring, oldest first. The ring doubles up to `limit` and is freed when the window is empty.
 * Times must be monotonic: they never decrease from call to call.
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

  /** Returns the number of requests that can be admitted now. Removes times that have left the window. */
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

  /** Admits a request. Requires that `remaining` is positive. */
  admit(nowMs: number): void {
    let times = this.#admittedMs;
    if (times === null || this.#count === times.length) times = this.#grow(times);
    const index = this.#oldestIndex + this.#count;
    times[index < times.length ? index : index - times.length] = nowMs;
    this.#count++;
  }

  /** Returns the milliseconds until the next request can be admitted. */
  retryAfterMs(nowMs: number): number {
    if (this.#admittedMs === null || this.remaining(nowMs) > 0) return 0;
    return (this.#admittedMs[this.#oldestIndex] as number) + this.#windowMs - nowMs;
  }

  /** Returns the milliseconds until the window is empty. */
  resetMs(nowMs: number): number {
    if (this.#admittedMs === null || this.remaining(nowMs) === this.limit) return 0;
    return this.#newestMs(this.#admittedMs) + this.#windowMs - nowMs;
  }

  /** Frees the ring if the window is empty. Returns whether the window is empty. */
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
    const index = this.#oldestIndex + this.#count - 1;
    return times[index < times.length ? index : index - times.length] as number;
  }

  #grow(times: Float64Array | null): Float64Array {
    if (this.#count >= this.limit) throw new RangeError('sliding window is full');
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
