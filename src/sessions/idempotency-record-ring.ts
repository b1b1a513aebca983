import { subIdByteLength } from '../ids/sub-id.ts';

/** Bytes of the digest of an Idempotency-Key, and of the digest of a payload. */
export const digestBytes = 16;

/** A request with an Idempotency-Key whose session record the ledger took. */
export interface IdempotencyRecord {
  /** Digest of the payload. */
  readonly payload: Uint8Array;
  /** The 32 bytes of the session's `sub_id`. */
  readonly sub: Uint8Array;
  /** Position of the session's record in the ledger; 0 when it was read back from there. */
  readonly position: number;
}

// A record, in bytes: digest of the key, digest of the payload, sub_id (which begins with the creation time), position.
const payloadOffset = digestBytes;
const subIdOffset = payloadOffset + digestBytes;
const positionOffset = subIdOffset + subIdByteLength;
const recordBytes = positionOffset + 8;

/** Records of one buffer: 72 KiB. A power of two. */
const chunkBits = 10;
const chunkRecords = 1 << chunkBits;

const noRecord = -1;

/**
 * Requests with an Idempotency-Key in the order of their arrival, in buffers outside the JavaScript heap: 72 bytes for each
 * record, and an index of 4 bytes a slot. All are remembered equally long, so they leave from the front.
 *
 * Positions in the ring count on without end; the last bits of a position are its place in memory. The index uses open
 * addressing by the first bytes of the key's digest. That digest is made with a secret, so no caller can choose keys that collide.
 */
export class IdempotencyRecordRing {
  readonly #capacity: number;
  /** Allocated when the first record of a chunk is written, freed when its last record has left. */
  readonly #chunks: (Buffer | undefined)[] = [];
  /** Places plus one; 0 for an empty slot. Half of the slots stay empty. */
  readonly #index: Int32Array;
  #oldestPosition = 0;
  #nextPosition = 0;

  /** @param requestsMax the most records at one time */
  constructor(requestsMax: number) {
    this.#capacity = Math.max(chunkRecords, 2 ** Math.ceil(Math.log2(requestsMax)));
    this.#index = new Int32Array(this.#capacity * 2);
  }

  get size(): number {
    return this.#nextPosition - this.#oldestPosition;
  }

  /** Creation time of the oldest request's session, or `Infinity` when the ring is empty. */
  get oldestCreatedMs(): number {
    return this.size === 0 ? Number.POSITIVE_INFINITY : this.#createdMsAt(this.#slotIndexOf(this.#oldestPosition));
  }

  /** The latest request with this digest of its key, if its session was created after `afterMs`. */
  find(key: Uint8Array, afterMs: number): IdempotencyRecord | undefined {
    const place = this.#index[this.#findIndexSlot(key)]! - 1;
    if (place === noRecord || this.#createdMsAt(place) <= afterMs) return undefined;
    const chunk = this.#chunkOf(place);
    const at = recordOffset(place);
    return {
      payload: chunk.subarray(at + payloadOffset, at + subIdOffset),
      // A copy: the record may leave while the caller waits.
      sub: Buffer.from(chunk.subarray(at + subIdOffset, at + positionOffset)),
      position: chunk.readDoubleBE(at + positionOffset),
    };
  }

  /** Adds a request. An older one with the same key is found no more. Throws a RangeError when the ring is full. */
  add(key: Uint8Array, { payload, sub, position }: IdempotencyRecord): void {
    if (this.size === this.#capacity) throw new RangeError('the ring of keyed requests is full');
    const place = this.#slotIndexOf(this.#nextPosition);
    const slot = this.#findIndexSlot(key);
    this.#chunks[place >>> chunkBits] ??= Buffer.allocUnsafeSlow(chunkRecords * recordBytes);
    const chunk = this.#chunkOf(place);
    const at = recordOffset(place);
    chunk.set(key, at);
    chunk.set(payload, at + payloadOffset);
    chunk.set(sub, at + subIdOffset);
    chunk.writeDoubleBE(position, at + positionOffset);
    this.#index[slot] = place + 1;
    this.#nextPosition++;
  }

  /** Removes the oldest request. Only while there is one. */
  removeOldest(): void {
    const place = this.#slotIndexOf(this.#oldestPosition);
    const at = recordOffset(place);
    const slot = this.#findIndexSlot(this.#chunkOf(place).subarray(at, at + digestBytes));
    // Otherwise the slot belongs to a later request with the same key.
    if (this.#index[slot] === place + 1) this.#removeIndexSlot(slot);
    this.#oldestPosition++;
    // In a ring that is nearly full, the newest records may be in the same chunk again.
    const chunkIsEmpty = this.#nextPosition <= this.#oldestPosition - chunkRecords + this.#capacity;
    if (this.#oldestPosition % chunkRecords === 0 && chunkIsEmpty) this.#chunks[place >>> chunkBits] = undefined;
  }

  #slotIndexOf(position: number): number {
    return position & (this.#capacity - 1);
  }

  /** Only of a place that has a record. */
  #chunkOf(place: number): Buffer {
    return this.#chunks[place >>> chunkBits]!;
  }

  #createdMsAt(place: number): number {
    return this.#chunkOf(place).readUIntBE(recordOffset(place) + subIdOffset, 6);
  }

  /** The slot that a key has, or would get. */
  #findIndexSlot(key: Uint8Array): number {
    const index = this.#index;
    const mask = index.length - 1;
    let slot = readHash(key, 0) & mask;
    while (index[slot] !== 0 && !this.#hasKeyAt(key, index[slot]! - 1)) slot = (slot + 1) & mask;
    return slot;
  }

  #hasKeyAt(key: Uint8Array, place: number): boolean {
    const at = recordOffset(place);
    return this.#chunkOf(place).compare(key, 0, digestBytes, at, at + digestBytes) === 0;
  }

  /** Empties a slot, and moves up those behind it that would not be found beyond an empty one. */
  #removeIndexSlot(slot: number): void {
    const index = this.#index;
    const mask = index.length - 1;
    let empty = slot;
    for (let each = (empty + 1) & mask; index[each] !== 0; each = (each + 1) & mask) {
      const place = index[each]! - 1;
      const wanted = readHash(this.#chunkOf(place), recordOffset(place)) & mask;
      if (((each - wanted) & mask) < ((each - empty) & mask)) continue;
      index[empty] = index[each]!;
      empty = each;
    }
    index[empty] = 0;
  }
}

/** Offset of a place's record in its chunk. */
function recordOffset(place: number): number {
  return (place & (chunkRecords - 1)) * recordBytes;
}

function readHash(bytes: Uint8Array, at: number): number {
  return bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
}
