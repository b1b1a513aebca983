import { LRUCache } from 'lru-cache';
import { SlidingWindow } from './rate-limits.ts';

/**
 * Limits the requests of each key, such as a client address, to `limit` in any period of 60 seconds. Stores the requests of at most `keysMax`
 * keys, and forgets the key whose last request is the oldest.
 */
export class KeyedRateLimit {
  readonly #limit: number;
  readonly #windows: LRUCache<string, SlidingWindow>;

  constructor(limit: number, keysMax: number) {
    this.#limit = limit;
    this.#windows = new LRUCache({ max: keysMax });
  }

  /** Counts a request of a key. Returns 0, or the time in milliseconds until the next request of the key is possible; then counts nothing. */
  countRequest(key: string, nowMs: number): number {
    const requests = this.#windows.get(key) ?? new SlidingWindow(this.#limit);
    this.#windows.set(key, requests);
    if (requests.remainingRequests(nowMs) === 0) return requests.retryAfterMs(nowMs);
    requests.addRequest(nowMs);
    return 0;
  }
}
