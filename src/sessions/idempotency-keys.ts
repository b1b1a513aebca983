import { LRUCache } from 'lru-cache';
import type { Clock } from '../domain/clock.ts';

/** What became, or is becoming, of the first request that carried a key. */
export interface FirstRequest<Answer> {
  /** Digest of its payload: a repeat must match it. */
  readonly payload: string;
  /** The answer a repeat gets; asked for by each. */
  readonly answer: () => Promise<Answer>;
}

export interface IdempotencyKeysOptions {
  readonly clock: Clock;
  /** The lifetime of a session: a key is remembered for no less and no more (D5). */
  readonly rememberedMs: number;
  readonly keysMax: number;
}

/**
 * The Idempotency-Keys of live sessions (D5). Like the sessions, none is forgotten before its time: when there is no room
 * for one more, its request must be refused, since a forgotten key would let a retry count twice.
 */
export class IdempotencyKeys<Answer> {
  readonly #keysMax: number;
  readonly #first: LRUCache<string, FirstRequest<Answer>>;

  constructor({ clock, rememberedMs, keysMax }: IdempotencyKeysOptions) {
    this.#keysMax = keysMax;
    this.#first = new LRUCache({
      // Bounded by size rather than count, since a count is paid for in advance, used or not.
      maxSize: keysMax,
      sizeCalculation: () => 1,
      ttl: rememberedMs,
      ttlResolution: 0,
      allowStale: true, // so that iterating shows what is over, too
      perf: { now: () => clock.wallMs() },
    });
  }

  find(key: string): FirstRequest<Answer> | undefined {
    return this.#first.peek(key, { allowStale: false });
  }

  /** Whether one more key can be remembered. Keys end in the order they came, so looking at the oldest is enough. */
  hasRoom(): boolean {
    while (this.#first.size >= this.#keysMax) {
      const oldest = this.#first.rkeys().next().value;
      if (oldest === undefined || this.#first.getRemainingTTL(oldest) > 0) return false;
      this.#first.delete(oldest);
    }
    return true;
  }

  /** Only while there is room. */
  remember(key: string, first: FirstRequest<Answer>): void {
    this.#first.set(key, first);
  }

  forget(key: string): void {
    this.#first.delete(key);
  }
}
