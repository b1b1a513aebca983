import { bounds } from '../bounds.ts';
import type { Clock } from '../domain/clock.ts';
import { Hmac } from '../secrets/hmac.ts';
import type { SecretRing } from '../secrets/secret-ring.ts';
import { digestBytes, type IdempotencyRecord, IdempotencyRecordRing } from './idempotency-record-ring.ts';

/** Digests of 16 bytes each. With these digests, the ledger identifies a request that has an Idempotency-Key. */
export interface IdempotencyDigests {
  readonly key: Uint8Array;
  readonly payload: Uint8Array;
}

/** First request with an Idempotency-Key. */
export interface OriginalRequest {
  /** The 32 bytes of the session's sub_id. */
  readonly sub: Uint8Array;
  readonly position: number;
  /** Promise of the append of the session's record, see `EventLog.append`; null after the promise has settled. */
  readonly durable: Promise<void> | null;
}

type IdempotencyLookup =
  | { readonly kind: 'new'; readonly digests: IdempotencyDigests }
  | { readonly kind: 'repeat'; readonly first: OriginalRequest }
  /** An earlier request used the key with another payload. */
  | { readonly kind: 'mismatch' };

interface IdempotencyKeysOptions {
  readonly clock: Clock;
  readonly secrets: SecretRing;
  /** Lifetime of a key in milliseconds, equal to the lifetime of a session (docs/contract.md#idempotency). */
  readonly retentionMs: number;
  readonly keysMax: number;
}

interface PendingRecord extends IdempotencyRecord {
  readonly durable: Promise<void>;
}

/**
 * Idempotency-Keys of live sessions (docs/contract.md#idempotency). Keys are never dropped early, because a retry would then create a
 * second session. When the store is full, new requests with a key must be rejected.
 *
 * Keys and payloads are stored as digests under a secret: the ledger stores the digests for months, and an unkeyed hash of a short text
 * can be guessed. Lookups try every secret of the ring.
 *
 *     new --addPending--> pending --completePending(taken)--> recorded --retentionMs--> expired
 *                            +-----completePending(not taken)--> removed
 */
export class IdempotencyKeys {
  readonly #clock: Clock;
  readonly #retentionMs: number;
  readonly #keysMax: number;
  /** HMACs of the secrets, newest secret first. New requests are stored under the newest secret. */
  readonly #hmacs: readonly Hmac[];
  /** Requests whose record is not durable yet, by the digest of the Idempotency-Key as Latin-1. */
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

  /** @param key Idempotency-Key with its tenant, so that different tenants can use the same key */
  has(key: string): boolean {
    return this.#hmacs.some((hmac) => this.#find(computeDigest(hmac, 'key', key)) !== undefined);
  }

  /** Finds the first request with a key and compares the payloads. */
  lookUp(key: string, payload: string): IdempotencyLookup {
    let newestDigest: Uint8Array | null = null;
    for (const hmac of this.#hmacs) {
      const keyDigest = computeDigest(hmac, 'key', key);
      newestDigest ??= keyDigest;
      const request = this.#find(keyDigest);
      if (request === undefined) continue;
      if (!computeDigest(hmac, 'payload', payload).equals(request.payload)) return { kind: 'mismatch' };
      const { sub, position, durable = null } = request;
      return { kind: 'repeat', first: { sub, position, durable } };
    }
    return {
      kind: 'new',
      digests: { key: newestDigest!, payload: computeDigest(this.#hmacs[0]!, 'payload', payload) },
    };
  }

  /** Removes a few of the oldest keys if they have expired. Returns whether another key can be added. */
  makeRoom(): boolean {
    const expiredMs = this.#clock.wallMs() - this.#retentionMs;
    for (let i = 0; i < bounds.expiredIdempotencyKeysPerInsert; i++) {
      if (this.#records.oldestCreatedMs > expiredMs) break;
      this.#records.removeOldest();
    }
    return this.#pending.size + this.#records.size < this.#keysMax;
  }

  /** Adds the first request with a key while its record is not durable. Call `makeRoom` before and `completePending` afterwards. */
  addPending({ key, payload }: IdempotencyDigests, first: OriginalRequest & { readonly durable: Promise<void> }): void {
    // The bytes are copied, because `SubIds` reuses its buffer.
    this.#pending.set(toLatin1(key), { ...first, sub: Buffer.from(first.sub), payload });
  }

  /** Ends the pending state of a key. `taken` means that the ledger has written the record or will write it. */
  completePending({ key }: IdempotencyDigests, taken: boolean): void {
    const mapKey = toLatin1(key);
    const request = this.#pending.get(mapKey);
    this.#pending.delete(mapKey);
    if (taken && request !== undefined) this.#records.add(key, request);
  }

  /** Adds the key of a live session that was read from the ledger, unless the store is full. */
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

/** Parses two members of a ledger record. Returns null unless both members are digests. */
export function parseIdempotencyDigests(key: unknown, payload: unknown): IdempotencyDigests | null {
  const isDigest = (value: unknown): value is Uint8Array => value instanceof Uint8Array && value.length === digestBytes;
  return isDigest(key) && isDigest(payload) ? { key, payload } : null;
}
