import { subIdBytes } from './sub-id.ts';

/** Bytes of the digest of an Idempotency-Key, and of the digest of a payload. */
export const digestBytes = 16;

/** A request with an Idempotency-Key whose session record the ledger took. */
export interface KeyedRequest {
  /** Digest of the payload. */
  readonly payload: Uint8Array;
  /** The 32 bytes of the session's `sub_id`. */
  readonly sub: Uint8Array;
  /** Position of the session's record in the ledger; 0 when it was read back from there. */
  readonly position: number;
}

// A record, in bytes: digest of the key, digest of the payload, sub_id (which begins with the creation time), position.
const payloadByte = digestBytes;
const subByte = payloadByte + digestBytes;
const positionByte = subByte + subIdBytes;
const recordBytes = positionByte + 8;

/** Records of one buffer: 72 KiB. A power of two. */
const chunkBits = 10;
const chunkRecords = 1 << chunkBits;

const none = -1;

/**
 * Requests with an Idempotency-Key in the order of their arrival, in buffers outside the JavaScript heap: 72 bytes for each
 * record, and an index of 4 bytes a slot. All are remembered equally long, so they leave from the front.
 *
 * Positions in the ring count on without end; the last bits of a position are its place in memory. The index uses open
 * addressing by the first bytes of the key's digest. That digest is made with a secret, so no caller can choose keys that collide.
 */
export class KeyedRequestRing {
  readonly #capacity: number;
  /** Allocated when the first record of a chunk is written, freed when its last record has left. */
  readonly #chunks: (Buffer | undefined)[] = [];
  /** Places plus one; 0 for an empty slot. Half of the slots stay empty. */
  readonly #index: Int32Array;
  #oldest = 0;
  #next = 0;

  /** @param requestsMax the most records at one time */
  constructor(requestsMax: number) {
    this.#capacity = Math.max(chunkRecords, 2 ** Math.ceil(Math.log2(requestsMax)));
    this.#index = new Int32Array(this.#capacity * 2);
  }

  get size(): number {
    return this.#next - this.#oldest;
  }

  /** Creation time of the oldest request's session, or `Infinity` when the ring is empty. */
  get oldestCreatedMs(): number {
    return this.size === 0 ? Number.POSITIVE_INFINITY : this.#createdMsAt(this.#placeOf(this.#oldest));
  }

  /** The latest request with this digest of its key, if its session was created after `afterMs`. */
  find(key: Uint8Array, afterMs: number): KeyedRequest | undefined {
    const place = this.#index[this.#slotOf(key)]! - 1;
    if (place === none || this.#createdMsAt(place) <= afterMs) return undefined;
    const chunk = this.#chunkOf(place);
    const at = byteOf(place);
    return {
      payload: chunk.subarray(at + payloadByte, at + subByte),
      // A copy: the record may leave while the caller waits.
      sub: Buffer.from(chunk.subarray(at + subByte, at + positionByte)),
      position: chunk.readDoubleBE(at + positionByte),
    };
  }

  /** Adds a request. An older one with the same key is found no more. Throws a RangeError when the ring is full. */
  add(key: Uint8Array, { payload, sub, position }: KeyedRequest): void {
    if (this.size === this.#capacity) throw new RangeError('the ring of keyed requests is full');
    const place = this.#placeOf(this.#next);
    const slot = this.#slotOf(key);
    this.#chunks[place >>> chunkBits] ??= Buffer.allocUnsafeSlow(chunkRecords * recordBytes);
    const chunk = this.#chunkOf(place);
    const at = byteOf(place);
    chunk.set(key, at);
    chunk.set(payload, at + payloadByte);
    chunk.set(sub, at + subByte);
    chunk.writeDoubleBE(position, at + positionByte);
    this.#index[slot] = place + 1;
    this.#next++;
  }

  /** Removes the oldest request. Only while there is one. */
  dropOldest(): void {
    const place = this.#placeOf(this.#oldest);
    const at = byteOf(place);
    const slot = this.#slotOf(this.#chunkOf(place).subarray(at, at + digestBytes));
    // Otherwise the slot belongs to a later request with the same key.
    if (this.#index[slot] === place + 1) this.#vacate(slot);
    this.#oldest++;
    // In a ring that is nearly full, the newest records may be in the same chunk again.
    const chunkIsEmpty = this.#next <= this.#oldest - chunkRecords + this.#capacity;
    if (this.#oldest % chunkRecords === 0 && chunkIsEmpty) this.#chunks[place >>> chunkBits] = undefined;
  }

  #placeOf(position: number): number {
    return position & (this.#capacity - 1);
  }

  /** Only of a place that has a record. */
  #chunkOf(place: number): Buffer {
    return this.#chunks[place >>> chunkBits]!;
  }

  #createdMsAt(place: number): number {
    return this.#chunkOf(place).readUIntBE(byteOf(place) + subByte, 6);
  }

  /** The slot that a key has, or would get. */
  #slotOf(key: Uint8Array): number {
    const index = this.#index;
    const mask = index.length - 1;
    let slot = hashAt(key, 0) & mask;
    while (index[slot] !== 0 && !this.#isAt(key, index[slot]! - 1)) slot = (slot + 1) & mask;
    return slot;
  }

  #isAt(key: Uint8Array, place: number): boolean {
    const at = byteOf(place);
    return this.#chunkOf(place).compare(key, 0, digestBytes, at, at + digestBytes) === 0;
  }

  /** Empties a slot, and moves up those behind it that would not be found beyond an empty one. */
  #vacate(slot: number): void {
    const index = this.#index;
    const mask = index.length - 1;
    let empty = slot;
    for (let each = (empty + 1) & mask; index[each] !== 0; each = (each + 1) & mask) {
      const place = index[each]! - 1;
      const wanted = hashAt(this.#chunkOf(place), byteOf(place)) & mask;
      if (((each - wanted) & mask) < ((each - empty) & mask)) continue;
      index[empty] = index[each]!;
      empty = each;
    }
    index[empty] = 0;
  }
}

/** Offset of a place's record in its chunk. */
function byteOf(place: number): number {
  return (place & (chunkRecords - 1)) * recordBytes;
}

function hashAt(bytes: Uint8Array, at: number): number {
  return bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
}
