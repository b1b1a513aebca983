import { bounds } from '../bounds.ts';
import type { Clock } from '../domain/clock.ts';
import { Hmac } from '../secrets/hmac.ts';
import type { SecretRing } from '../secrets/secret-ring.ts';
import { digestBytes, type IdempotencyRecord, IdempotencyRecordRing } from './idempotency-record-ring.ts';

/** What the ledger keeps of a request with an Idempotency-Key, 16 bytes each: enough to know it again, and no more. */
export interface IdempotencyDigests {
  readonly key: Uint8Array;
  readonly payload: Uint8Array;
}

/** The first request that carried a key. */
export interface OriginalRequest {
  readonly sub: Uint8Array;
  readonly position: number;
  /** Settles as `EventLog.append` did for the record of its session; null once that has settled. */
  readonly durable: Promise<void> | null;
}

type IdempotencyLookup =
  | { readonly kind: 'first'; readonly digests: IdempotencyDigests }
  | { readonly kind: 'repeat'; readonly first: OriginalRequest }
  /** The key was used with another payload. */
  | { readonly kind: 'mismatch' };

interface IdempotencyKeysOptions {
  readonly clock: Clock;
  readonly secrets: SecretRing;
  /** The lifetime of a session: a key is remembered for no less and no more (docs/contract.md#idempotency). */
  readonly retentionMs: number;
  readonly keysMax: number;
}

interface PendingRecord extends IdempotencyRecord {
  readonly durable: Promise<void>;
}

/**
 * The Idempotency-Keys of live sessions (docs/contract.md#idempotency). None is forgotten before its time: when there is no room
 * for one more, its request must be refused, since a forgotten key would let a retry count twice.
 *
 * Keys and payloads are known by digests under a secret: the ledger keeps them for months, callers put all kinds of things
 * into a key, and a plain hash of something short can be tried out. A service with several secrets looks under each.
 *
 *     new --remember--> pending --settle(taken)--> remembered --rememberedMs--> expired
 *                          +-----settle(not taken)--> forgotten
 */
export class IdempotencyKeys {
  readonly #clock: Clock;
  readonly #retentionMs: number;
  readonly #keysMax: number;
  /** Newest first: that is the one requests are remembered under. */
  readonly #hmacs: readonly Hmac[];
  /** Requests whose record is not durable yet, by the digest of their key (latin1). */
  readonly #pending = new Map<string, PendingRecord>();
  readonly #records: IdempotencyRecordRing;

  constructor({ clock, secrets, retentionMs, keysMax }: IdempotencyKeysOptions) {
    this.#clock = clock;
    this.#retentionMs = retentionMs;
    this.#keysMax = keysMax;
    this.#hmacs = secrets.secretNumbers
      .toSorted((a, b) => b - a)
      .map((number) => new Hmac(secrets.deriveKey(number, 'idempotency')!, bounds.idempotencyPayloadBytesMax));
    this.#records = new IdempotencyRecordRing(keysMax);
  }

  /**
   * Whether a request with this key is pending or remembered.
   *
   * @param key names its tenant too, so that tenants do not meet
   */
  has(key: string): boolean {
    return this.#hmacs.some((hmac) => this.#find(computeDigest(hmac, 'key', key)) !== undefined);
  }

  /** Finds the first request with a key, if there is one, and compares the payloads. */
  lookUp(key: string, payload: string): IdempotencyLookup {
    let newest: Uint8Array | null = null;
    for (const hmac of this.#hmacs) {
      const keyDigest = computeDigest(hmac, 'key', key);
      newest ??= keyDigest;
      const request = this.#find(keyDigest);
      if (request === undefined) continue;
      if (!computeDigest(hmac, 'payload', payload).equals(request.payload)) return { kind: 'mismatch' };
      const { sub, position, durable = null } = request;
      return { kind: 'repeat', first: { sub, position, durable } };
    }
    return { kind: 'first', digests: { key: newest!, payload: computeDigest(this.#hmacs[0]!, 'payload', payload) } };
  }

  /** Whether one more key can be remembered. Removes a few expired keys, which are the oldest. */
  makeRoom(): boolean {
    const expiredMs = this.#clock.wallMs() - this.#retentionMs;
    for (let dropped = 0; dropped < bounds.expiredIdempotencyKeysPerInsert; dropped++) {
      if (this.#records.oldestCreatedMs > expiredMs) break;
      this.#records.removeOldest();
    }
    return this.#pending.size + this.#records.size < this.#keysMax;
  }

  /** Remembers a first request whose record is on its way. Only while there is room; `settle` must follow. */
  addPending({ key, payload }: IdempotencyDigests, first: OriginalRequest & { readonly durable: Promise<void> }): void {
    // A copy: the id's buffer is overwritten by the next id.
    this.#pending.set(toLatin1(key), { ...first, sub: Buffer.from(first.sub), payload });
  }

  /** Ends the pending state: `taken` says whether the ledger has the record, or will have it. */
  settlePending({ key }: IdempotencyDigests, taken: boolean): void {
    const name = toLatin1(key);
    const request = this.#pending.get(name);
    this.#pending.delete(name);
    if (taken && request !== undefined) this.#records.add(key, request);
  }

  /** Remembers the key of a live session that was read back from the ledger, unless there is no room. */
  restore({ key, payload }: IdempotencyDigests, sub: Uint8Array): void {
    if (this.makeRoom()) this.#records.add(key, { payload, sub, position: 0 });
  }

  #find(key: Uint8Array): (IdempotencyRecord & { readonly durable?: Promise<void> }) | undefined {
    const expiredMs = this.#clock.wallMs() - this.#retentionMs;
    return this.#pending.get(toLatin1(key)) ?? this.#records.find(key, expiredMs);
  }
}

function computeDigest(hmac: Hmac, part: 'key' | 'payload', text: string): Buffer {
  const message = Buffer.from(`${part} ${text}`);
  const target = Buffer.allocUnsafe(digestBytes);
  hmac.sign(message, message.length, target, 0, digestBytes);
  return target;
}

function toLatin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
}

/** Digests as a ledger's record holds them; null for anything else. */
export function parseIdempotencyDigests(key: unknown, payload: unknown): IdempotencyDigests | null {
  const isDigest = (value: unknown): value is Uint8Array => value instanceof Uint8Array && value.length === digestBytes;
  return isDigest(key) && isDigest(payload) ? { key, payload } : null;
}
