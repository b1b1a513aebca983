import { crc32 } from 'node:zlib';
import { bounds } from '../bounds.ts';
import type { Clock } from '../domain/clock.ts';
import {
  type CapturedPiece,
  OutdatedPartError,
  type SnapshotPart,
  type StoredPiece,
  toBytes,
} from '../domain/snapshot-part.ts';
import { subIdByteLength } from '../ids/sub-id.ts';
import { Hmac } from '../secrets/hmac.ts';
import type { SecretSet } from '../secrets/secret-set.ts';
import { RecordRing } from './record-ring.ts';

/** Length, in bytes, of the digests of Idempotency-Keys and payloads. */
const digestLength = 16;

// Layout of a record, in bytes: digest of the key, digest of the payload, sub_id (which starts with the creation time), ledger position.
const payloadOffset = digestLength;
const subIdOffset = payloadOffset + digestLength;
const positionOffset = subIdOffset + subIdByteLength;
const recordWords = (positionOffset + 8) / 4;

/**
 * Digests of an Idempotency-Key and of a request payload, 16 bytes each. The ledger stores digests of keys and payloads, so that the
 * service recognizes a repeated request after a restart.
 */
export interface IdempotencyDigests {
  readonly key: Uint8Array;
  readonly payload: Uint8Array;
}

/** First request with an Idempotency-Key, whose response is repeated for later requests with the same key. */
export interface OriginalRequest {
  readonly sub: Uint8Array;
  /** Position of the session's record in the ledger; 0 if the record was restored after a restart. */
  readonly position: number;
  /** Promise that resolves when the session's record is durable, see `EventLog.append`; null after the promise has settled. */
  readonly durable: Promise<void> | null;
}

type IdempotencyLookup =
  | { readonly kind: 'new'; readonly digests: IdempotencyDigests }
  | { readonly kind: 'repeat'; readonly first: OriginalRequest }
  /** An earlier request had the same Idempotency-Key and a different payload. */
  | { readonly kind: 'mismatch' };

interface IdempotencyKeysOptions {
  readonly clock: Clock;
  readonly secrets: SecretSet;
  /** Lifetime of an Idempotency-Key in milliseconds, equal to the session lifetime (docs/contract.md#idempotency). */
  readonly retentionMs: number;
  readonly keysMax: number;
}

/** First request, with the digest of its payload. */
interface StoredRequest extends OriginalRequest {
  readonly payload: Uint8Array;
}

/**
 * Idempotency-Keys of live sessions (docs/contract.md#idempotency). An Idempotency-Key is stored until its session expires, because a retry
 * after the deletion of the key would create a second session. The caller must reject new Idempotency-Keys while the store is full.
 *
 * The ledger stores digests of keys and payloads for months. The digests in the ledger are HMACs with a secret, because a reader of the
 * ledger could guess the key or the payload behind a plain hash. A lookup tries every secret of the service.
 *
 *     new --first request--> pending --record accepted--> recorded --retentionMs--> expired
 *                               +---record refused--> removed
 */
export class IdempotencyKeys implements SnapshotPart {
  readonly name = 'idempotency-keys';
  readonly #clock: Clock;
  readonly #retentionMs: number;
  readonly #keysMax: number;
  /** HMAC functions for the digests, one for each secret, newest secret first. Digests of new requests use the newest secret. */
  readonly #hmacs: readonly Hmac[];
  /** Requests whose ledger record is not durable yet. The map key is the digest of the Idempotency-Key as a Latin-1 string. */
  readonly #pending = new Map<string, StoredRequest>();
  /** Requests in order of arrival. A digest depends on a secret, so callers cannot choose keys with the same hash. */
  readonly #records: RecordRing;
  /** Buffer for one record, through which records are written and read. A lookup needs only the digest of the key. */
  readonly #words = new Int32Array(recordWords);
  /** Creation time of the newest session whose key may be missing because it expired, in Unix milliseconds. */
  #deletedUpToMs: number;
  readonly #bytes = Buffer.from(this.#words.buffer);

  constructor({ clock, secrets, retentionMs, keysMax }: IdempotencyKeysOptions) {
    this.#clock = clock;
    this.#retentionMs = retentionMs;
    this.#keysMax = keysMax;
    this.#deletedUpToMs = clock.wallMs() - retentionMs;
    this.#hmacs = secrets.secretVersions
      .toSorted((a, b) => b - a)
      .map((number) => new Hmac(secrets.deriveKey(number, 'idempotency')!, bounds.idempotencyPayloadBytesMax));
    this.#records = new RecordRing({ recordWords, keyWords: digestLength / 4, hashWord: 0, recordsMax: keysMax });
  }

  /** @param key Idempotency-Key with its tenant, so that different tenants can use the same key */
  has(key: string): boolean {
    return this.#hmacs.some((hmac) => this.#findEarlierRequest(computeDigest(hmac, 'key', key)) !== undefined);
  }

  /** Finds the first request with an Idempotency-Key and compares its payload. */
  lookUpRequest(key: string, payload: string): IdempotencyLookup {
    let newestDigest: Uint8Array | null = null;
    for (const hmac of this.#hmacs) {
      const keyDigest = computeDigest(hmac, 'key', key);
      newestDigest ??= keyDigest;
      const request = this.#findEarlierRequest(keyDigest);
      if (request === undefined) continue;
      if (!computeDigest(hmac, 'payload', payload).equals(request.payload)) return { kind: 'mismatch' };
      const { sub, position, durable } = request;
      return { kind: 'repeat', first: { sub, position, durable } };
    }
    return {
      kind: 'new',
      digests: { key: newestDigest!, payload: computeDigest(this.#hmacs[0]!, 'payload', payload) },
    };
  }

  /** Deletes expired keys, at most a few per call, oldest first. Returns whether the store has room for another key. */
  tryMakeRoom(): boolean {
    for (let i = 0; i < bounds.expiredRecordsPerInsert && this.#records.size > 0; i++) {
      this.#readRecord(this.#records.oldestPosition);
      if (!this.#hasExpired()) break;
      this.#records.removeOldest();
      this.#deletedUpToMs = Math.max(this.#deletedUpToMs, this.#clock.wallMs() - this.#retentionMs);
    }
    return this.#pending.size + this.#records.size < this.#keysMax;
  }

  /** Adds the first request with a key to the pending requests. Call `tryMakeRoom` before, and `completePendingRequest` afterwards. */
  addPendingRequest(
    { key, payload }: IdempotencyDigests,
    first: OriginalRequest & { readonly durable: Promise<void> },
  ): void {
    // The bytes of the sub_id are copied, because `SubIds` reuses its buffer.
    this.#pending.set(toLatin1(key), { ...first, sub: Buffer.from(first.sub), payload });
  }

  /** Removes a request from the pending requests. `taken` is true if the ledger has accepted the record of the request. */
  completePendingRequest({ key }: IdempotencyDigests, taken: boolean): void {
    const mapKey = toLatin1(key);
    const request = this.#pending.get(mapKey);
    this.#pending.delete(mapKey);
    if (taken && request !== undefined) this.#addRecord(key, request);
  }

  /**
   * Adds an Idempotency-Key that was read from the ledger and whose session is live. Has no effect if the store is full, or has a later
   * session of the key.
   */
  restoreKey({ key, payload }: IdempotencyDigests, sub: Uint8Array): void {
    const stored = this.#findEarlierRequest(key);
    if (stored !== undefined && Buffer.compare(stored.sub, sub) >= 0) return;
    if (this.tryMakeRoom()) this.#addRecord(key, { payload, sub, position: 0 });
  }

  /** Captures the pending requests first, because they become records while the records are captured. */
  *capture(): Generator<CapturedPiece> {
    const { oldestPosition, endPosition } = this.#records;
    const pending = [...this.#pending].map(([key, request]) => this.#encodePending(key, request));
    const head = Buffer.concat([toBytes(Float64Array.of(this.#deletedUpToMs)), ...pending]);
    yield { id: `head-${crc32(head)}`, chunks: () => [head] };
    const pieceLength = bounds.idempotencyKeysPerPieceMax;
    for (let piece = Math.floor(oldestPosition / pieceLength); piece * pieceLength < endPosition; piece++) {
      const [from, to] = [piece * pieceLength, Math.min(endPosition, (piece + 1) * pieceLength)];
      yield { id: `${from}-${to}`, chunks: () => this.#copyRecords(from, to) };
    }
  }

  restore(pieces: Iterable<StoredPiece>): void {
    const expiredMs = this.#clock.wallMs() - this.#retentionMs;
    try {
      let pending: Buffer = Buffer.alloc(0);
      for (const { id, bytes } of pieces) {
        if (id.startsWith('head')) {
          if (bytes.readDoubleLE() > expiredMs) throw new OutdatedPartError('the clock was set back');
          pending = bytes.subarray(Float64Array.BYTES_PER_ELEMENT);
        } else this.#restoreRecords(bytes);
      }
      this.#restoreRecords(pending);
    } catch (error) {
      this.#records.clear();
      throw error;
    }
  }

  *#copyRecords(from: number, to: number): Generator<Uint8Array> {
    const chunkLength = bounds.snapshotRecordsPerChunk;
    for (let first = from; first < to; first += chunkLength) {
      const start = Math.max(first, this.#records.oldestPosition);
      yield toBytes(this.#records.copyRecords(start, Math.min(to, first + chunkLength)));
    }
  }

  #encodePending(key: string, request: StoredRequest): Buffer {
    this.#setBytes(Buffer.from(key, 'latin1'), request);
    return Buffer.from(this.#bytes);
  }

  #restoreRecords(bytes: Buffer): void {
    for (let at = 0; at < bytes.length && this.tryMakeRoom(); at += this.#bytes.length) {
      this.#bytes.set(bytes.subarray(at, at + this.#bytes.length));
      this.#bytes.writeDoubleBE(0, positionOffset);
      if (!this.#hasExpired()) this.#addBytes();
    }
  }

  /** Writes a record to `#bytes`. */
  #setBytes(key: Uint8Array, { payload, sub, position }: Omit<StoredRequest, 'durable'>): void {
    this.#bytes.set(key, 0);
    this.#bytes.set(payload, payloadOffset);
    this.#bytes.set(sub, subIdOffset);
    this.#bytes.writeDoubleBE(position, positionOffset);
  }

  #addRecord(key: Uint8Array, request: Omit<StoredRequest, 'durable'>): void {
    this.#setBytes(key, request);
    this.#addBytes();
  }

  /** Adds the record in `#bytes`. */
  #addBytes(): void {
    const added = this.#records.add(this.#words);
    const chunk = this.#records.getChunk(added);
    const offset = this.#records.getOffset(added);
    // For so few words, a loop is faster than `set`.
    for (let word = 0; word < recordWords; word++) chunk[offset + word] = this.#words[word]!;
  }

  /** Copies a record to `#bytes`. */
  #readRecord(position: number): void {
    const chunk = this.#records.getChunk(position);
    const offset = this.#records.getOffset(position);
    for (let word = 0; word < recordWords; word++) this.#words[word] = chunk[offset + word]!;
  }

  /** Whether the session of the record in `#bytes` has expired. */
  #hasExpired(): boolean {
    return this.#bytes.readUIntBE(subIdOffset, 6) + this.#retentionMs <= this.#clock.wallMs();
  }

  #findEarlierRequest(key: Uint8Array): StoredRequest | undefined {
    const pending = this.#pending.get(toLatin1(key));
    if (pending !== undefined) return pending;
    this.#bytes.set(key, 0);
    const position = this.#records.find(this.#words);
    if (position < 0) return undefined;
    this.#readRecord(position);
    if (this.#hasExpired()) return undefined;
    // The bytes are copied, because the next lookup overwrites the buffer.
    return {
      payload: Buffer.from(this.#bytes.subarray(payloadOffset, subIdOffset)),
      sub: Buffer.from(this.#bytes.subarray(subIdOffset, positionOffset)),
      position: this.#bytes.readDoubleBE(positionOffset),
      durable: null,
    };
  }
}

function computeDigest(hmac: Hmac, part: 'key' | 'payload', text: string): Buffer {
  const message = Buffer.from(`${part} ${text}`);
  const target = Buffer.allocUnsafe(digestLength);
  hmac.sign(message, message.length, target, 0, digestLength);
  return target;
}

function toLatin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
}

/** Parses the digests of the Idempotency-Key and the payload in a ledger record; null if one is absent or invalid. */
export function parseIdempotencyDigests(key: unknown, payload: unknown): IdempotencyDigests | null {
  const isDigest = (value: unknown): value is Uint8Array =>
    value instanceof Uint8Array && value.length === digestLength;
  return isDigest(key) && isDigest(payload) ? { key, payload } : null;
}
