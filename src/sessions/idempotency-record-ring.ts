import { subIdByteLength } from '../ids/sub-id.ts';

/** Length, in bytes, of the digests of Idempotency-Keys and payloads. */
export const digestLength = 16;

/** Request with an Idempotency-Key that created a session; the session is in the ledger. */
export interface IdempotencyRecord {
  readonly payload: Uint8Array;
  readonly sub: Uint8Array;
  /** Position of the session's record in the ledger; 0 if the record was restored after a restart. */
  readonly position: number;
}

// Layout of a record, in bytes: digest of the key, digest of the payload, sub_id (which starts with the creation time), ledger position.
const payloadOffset = digestLength;
const subIdOffset = payloadOffset + digestLength;
const positionOffset = subIdOffset + subIdByteLength;
const recordBytes = positionOffset + 8;

/** Number of bits of a record's index within its chunk. A chunk is a buffer of 72 KiB with 1024 records. */
const chunkBits = 10;
const chunkRecords = 1 << chunkBits;

const noRecord = -1;

/**
 * Ring buffer of requests with an Idempotency-Key, in order of arrival and outside the JavaScript heap. Each record needs 72 bytes, plus 4
 * bytes for each slot of the hash index. The oldest record is always removed first, because all records have the same lifetime.
 *
 * Ring positions are never reused. The low bits of a ring position are the record's index in memory. The hash index uses open addressing.
 * The hash of a key is the start of its digest. The digest depends on a secret, so callers cannot choose keys whose hashes collide.
 */
export class IdempotencyRecordRing {
  readonly #capacity: number;
  /** Memory of the records. A chunk is allocated when its first record is added, and freed when its last record is removed. */
  readonly #chunks: (Buffer | undefined)[] = [];
  /** Hash index with at least half of its slots empty. A slot contains the index of a record plus one, or 0 if empty. */
  readonly #index: Int32Array;
  #oldestPosition = 0;
  #nextPosition = 0;

  constructor(recordsMax: number) {
    this.#capacity = Math.max(chunkRecords, 2 ** Math.ceil(Math.log2(recordsMax)));
    this.#index = new Int32Array(this.#capacity * 2);
  }

  get size(): number {
    return this.#nextPosition - this.#oldestPosition;
  }

  /** Creation time of the session of the oldest record, or `Infinity` if the ring is empty. */
  get oldestCreationTimeMs(): number {
    return this.size === 0
      ? Number.POSITIVE_INFINITY
      : this.#getCreationTime(this.#toRecordIndex(this.#oldestPosition));
  }

  /** Returns the latest record with this key digest, if its session was created after `afterMs`; otherwise undefined. */
  findRecord(key: Uint8Array, afterMs: number): IdempotencyRecord | undefined {
    const recordIndex = this.#index[this.#findHashSlot(key)]! - 1;
    if (recordIndex === noRecord || this.#getCreationTime(recordIndex) <= afterMs) return undefined;
    const chunk = this.#findChunk(recordIndex);
    const offset = recordOffset(recordIndex);
    return {
      payload: chunk.subarray(offset + payloadOffset, offset + subIdOffset),
      // The bytes of the sub_id are copied, because the record may be removed while the caller waits for a promise.
      sub: Buffer.from(chunk.subarray(offset + subIdOffset, offset + positionOffset)),
      position: chunk.readDoubleBE(offset + positionOffset),
    };
  }

  /** Adds a record and replaces an older record with the same key. Throws a RangeError if the ring is full. */
  add(key: Uint8Array, { payload, sub, position }: IdempotencyRecord): void {
    if (this.size === this.#capacity) throw new RangeError('idempotency record ring is full');
    const recordIndex = this.#toRecordIndex(this.#nextPosition);
    const slot = this.#findHashSlot(key);
    this.#chunks[recordIndex >>> chunkBits] ??= Buffer.allocUnsafeSlow(chunkRecords * recordBytes);
    const chunk = this.#findChunk(recordIndex);
    const offset = recordOffset(recordIndex);
    chunk.set(key, offset);
    chunk.set(payload, offset + payloadOffset);
    chunk.set(sub, offset + subIdOffset);
    chunk.writeDoubleBE(position, offset + positionOffset);
    this.#index[slot] = recordIndex + 1;
    this.#nextPosition++;
  }

  /** Removes the oldest record. The ring must not be empty. */
  removeOldestRecord(): void {
    const recordIndex = this.#toRecordIndex(this.#oldestPosition);
    const offset = recordOffset(recordIndex);
    const slot = this.#findHashSlot(this.#findChunk(recordIndex).subarray(offset, offset + digestLength));
    // The hash slot of a key is cleared only if it refers to the oldest record, because a newer record may have the same key.
    if (this.#index[slot] === recordIndex + 1) this.#clearHashSlot(slot);
    this.#oldestPosition++;
    // A chunk without records is freed. In an almost full ring, the chunk with the oldest records may also contain the newest records.
    const chunkIsEmpty = this.#nextPosition <= this.#oldestPosition - chunkRecords + this.#capacity;
    if (this.#oldestPosition % chunkRecords === 0 && chunkIsEmpty) this.#chunks[recordIndex >>> chunkBits] = undefined;
  }

  #toRecordIndex(position: number): number {
    return position & (this.#capacity - 1);
  }

  #findChunk(recordIndex: number): Buffer {
    return this.#chunks[recordIndex >>> chunkBits]!;
  }

  #getCreationTime(recordIndex: number): number {
    return this.#findChunk(recordIndex).readUIntBE(recordOffset(recordIndex) + subIdOffset, 6);
  }

  /** Returns the index slot of a key, or the empty slot in which the key would be inserted. */
  #findHashSlot(key: Uint8Array): number {
    const index = this.#index;
    const mask = index.length - 1;
    let slot = readHash(key, 0) & mask;
    while (index[slot] !== 0 && !this.#recordHasKey(key, index[slot]! - 1)) slot = (slot + 1) & mask;
    return slot;
  }

  #recordHasKey(key: Uint8Array, recordIndex: number): boolean {
    const offset = recordOffset(recordIndex);
    return this.#findChunk(recordIndex).compare(key, 0, digestLength, offset, offset + digestLength) === 0;
  }

  /** Clears a slot of the hash index. Moves later entries into the cleared slot, because a lookup stops at an empty slot. */
  #clearHashSlot(slot: number): void {
    const index = this.#index;
    const mask = index.length - 1;
    let empty = slot;
    for (let next = (empty + 1) & mask; index[next] !== 0; next = (next + 1) & mask) {
      const recordIndex = index[next]! - 1;
      const home = readHash(this.#findChunk(recordIndex), recordOffset(recordIndex)) & mask;
      if (((next - home) & mask) < ((next - empty) & mask)) continue;
      index[empty] = index[next]!;
      empty = next;
    }
    index[empty] = 0;
  }
}

function recordOffset(recordIndex: number): number {
  return (recordIndex & (chunkRecords - 1)) * recordBytes;
}

function readHash(bytes: Uint8Array, offset: number): number {
  return bytes[offset]! | (bytes[offset + 1]! << 8) | (bytes[offset + 2]! << 16) | (bytes[offset + 3]! << 24);
}
