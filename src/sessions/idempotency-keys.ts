import { createHmac } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../domain/clock.ts';
import type { SecretRing } from '../secrets/secret-ring.ts';

/** What the ledger keeps of a request with an Idempotency-Key, 16 bytes each: enough to know it again, and no more. */
export interface KeyedRequestDigests {
  readonly key: Uint8Array;
  readonly payload: Uint8Array;
}

/** What became, or is becoming, of the first request that carried a key. */
export interface FirstRequest<Answer> {
  /** Whether the request at hand has the payload the first one had. */
  readonly samePayload: boolean;
  /** The answer a repeat gets; asked for by each. */
  readonly answer: () => Promise<Answer>;
}

export interface IdempotencyKeysOptions {
  readonly clock: Clock;
  readonly secrets: SecretRing;
  /** The lifetime of a session: a key is remembered for no less and no more (D5). */
  readonly rememberedMs: number;
  readonly keysMax: number;
}

interface Remembered<Answer> {
  readonly payload: string;
  readonly answer: () => Promise<Answer>;
}

const digestBytes = 16;

/**
 * The Idempotency-Keys of live sessions (D5). Like the sessions, none is forgotten before its time: when there is no room
 * for one more, its request must be refused, since a forgotten key would let a retry count twice.
 *
 * Keys and payloads are known by digests under a secret: the ledger keeps them for months, callers put all kinds of things
 * into a key, and a plain hash of something short can be tried out. A service with several secrets looks under each.
 */
export class IdempotencyKeys<Answer> {
  readonly #keysMax: number;
  /** Newest first: that is the one requests are remembered under. */
  readonly #secrets: readonly Buffer[];
  readonly #remembered: LRUCache<string, Remembered<Answer>>;

  constructor({ clock, secrets, rememberedMs, keysMax }: IdempotencyKeysOptions) {
    this.#keysMax = keysMax;
    this.#secrets = secrets.numbers.toSorted((a, b) => b - a).map((number) => secrets.key(number, 'idempotency')!);
    this.#remembered = new LRUCache({
      // Bounded by size rather than count, since a count is paid for in advance, used or not.
      maxSize: keysMax,
      sizeCalculation: () => 1,
      // The cache drops what is older than this; a session is over when it is as old as its lifetime.
      ttl: rememberedMs - 1,
      ttlResolution: 0,
      allowStale: true, // so that iterating shows what is over, too
      perf: { now: () => clock.wallMs() },
    });
  }

  /** @param key names its tenant too, so that tenants do not meet */
  find(key: string, payload: string): FirstRequest<Answer> | undefined {
    for (const secret of this.#secrets) {
      const first = this.#remembered.peek(digest(secret, 'key', key).toString('latin1'), { allowStale: false });
      if (first === undefined) continue;
      const samePayload = first.payload === digest(secret, 'payload', payload).toString('latin1');
      return { samePayload, answer: first.answer };
    }
    return undefined;
  }

  /** Whether one more key can be remembered. Keys end in the order they came, so looking at the oldest is enough. */
  hasRoom(): boolean {
    while (this.#remembered.size >= this.#keysMax) {
      const oldest = this.#remembered.rkeys().next().value;
      if (oldest === undefined || this.#remembered.getRemainingTTL(oldest) >= 0) return false;
      this.#remembered.delete(oldest);
    }
    return true;
  }

  digestsOf(key: string, payload: string): KeyedRequestDigests {
    const [newest] = this.#secrets;
    return { key: digest(newest!, 'key', key), payload: digest(newest!, 'payload', payload) };
  }

  /** Only while there is room. `createdMs` is the wall time of the session it goes with. */
  remember({ key, payload }: KeyedRequestDigests, createdMs: number, answer: () => Promise<Answer>): void {
    this.#remembered.set(latin1(key), { payload: latin1(payload), answer }, { start: createdMs });
  }

  forget({ key }: KeyedRequestDigests): void {
    this.#remembered.delete(latin1(key));
  }
}

function digest(secret: Buffer, part: 'key' | 'payload', text: string): Buffer {
  return createHmac('sha256', secret).update(`${part} ${text}`).digest().subarray(0, digestBytes);
}

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
}

/** Digests as a ledger's record holds them; null for anything else. */
export function parseKeyedRequest(key: unknown, payload: unknown): KeyedRequestDigests | null {
  const isDigest = (value: unknown): value is Uint8Array => value instanceof Uint8Array && value.length === digestBytes;
  return isDigest(key) && isDigest(payload) ? { key, payload } : null;
}
