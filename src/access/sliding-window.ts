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
  #times: Float64Array | null = null;
  #oldest = 0;
  #count = 0;

  constructor(limit: number, windowMs: number = bounds.minuteWindowMs) {
    this.limit = limit;
    this.#windowMs = windowMs;
  }

  /** How many requests would be admitted right now. Forgets times that have left the window: each is looked at once. */
  remaining(nowMs: number): number {
    const times = this.#times;
    if (times !== null && this.#count > 0) {
      if (this.#left(this.#newest(times), nowMs)) {
        this.#count = 0;
      } else {
        while (this.#left(times[this.#oldest] as number, nowMs)) {
          this.#oldest = this.#oldest + 1 === times.length ? 0 : this.#oldest + 1;
          this.#count--;
        }
      }
    }
    return this.limit - this.#count;
  }

  /** Admits a request. Only to be called when `remaining` has just said that it fits. */
  take(nowMs: number): void {
    let times = this.#times;
    if (times === null || this.#count === times.length) times = this.#grown(times);
    const at = this.#oldest + this.#count;
    times[at < times.length ? at : at - times.length] = nowMs;
    this.#count++;
  }

  /** Milliseconds until a request will be admitted; 0 when one would be now. */
  nextFreeMs(nowMs: number): number {
    if (this.#times === null || this.remaining(nowMs) > 0) return 0;
    return (this.#times[this.#oldest] as number) + this.#windowMs - nowMs;
  }

  /** Milliseconds until the whole limit is free again; 0 when it is now. */
  wholeAgainMs(nowMs: number): number {
    if (this.#times === null || this.remaining(nowMs) === this.limit) return 0;
    return this.#newest(this.#times) + this.#windowMs - nowMs;
  }

  /** Lets the ring go when the window is empty; says whether it is. */
  release(nowMs: number): boolean {
    if (this.remaining(nowMs) < this.limit) return false;
    this.#times = null;
    this.#oldest = 0;
    return true;
  }

  #left(admittedMs: number, nowMs: number): boolean {
    return nowMs - admittedMs >= this.#windowMs;
  }

  #newest(times: Float64Array): number {
    const at = this.#oldest + this.#count - 1;
    return times[at < times.length ? at : at - times.length] as number;
  }

  #grown(times: Float64Array | null): Float64Array {
    if (this.#count >= this.limit) throw new RangeError('a request was taken that does not fit the window');
    const grown = new Float64Array(Math.min(this.limit, times === null ? initialCapacity : times.length * 2));
    if (times !== null) {
      grown.set(times.subarray(this.#oldest));
      grown.set(times.subarray(0, this.#oldest), times.length - this.#oldest);
    }
    this.#oldest = 0;
    this.#times = grown;
    return grown;
  }
}
