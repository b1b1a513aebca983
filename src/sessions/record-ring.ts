interface RecordRingOptions {
  /** Length of a record in 32-bit words. */
  readonly recordWords: number;
  /** Length of the key in 32-bit words. The key is the first part of a record. */
  readonly keyWords: number;
  /** Index of the word of the key that is its hash. Callers of the service must not be able to choose this word. */
  readonly hashWord: number;
  readonly recordsMax: number;
}

/** Number of bits of a record's index within its chunk of memory. The chunks are small, so that their allocation is fast. */
const chunkBits = 12;
const chunkRecords = 1 << chunkBits;

/** The first bits of a hash select the hash table, the last bits the slot in the table. */
const tableBits = 8;
const tableSlotsMin = 16;

/**
 * Ring buffer of records of equal length, outside the JavaScript heap, with a hash index. Records are added at the end and removed at the
 * start, because records with the same lifetime expire in the order of their creation. A record never moves.
 *
 * The memory of the records is allocated and freed in chunks. The hash index consists of many small hash tables with open addressing,
 * because rebuilding one large table would block the event loop for tens of milliseconds. A slot of a hash table needs 4 bytes, and 12 to
 * 50 % of the slots are in use, so a record needs 8 to 16 bytes in the index while the number of records grows.
 *
 * Positions of records ascend and are never reused. The low bits of a position are the index of the record, which the hash tables store.
 */
export class RecordRing {
  readonly #recordWords: number;
  readonly #keyWords: number;
  readonly #hashWord: number;
  readonly #recordsMax: number;
  readonly #recordIndexMask: number;
  /** Memory of the records. A chunk is allocated when its first record is added, and freed when its last record is removed. */
  readonly #chunks: (Int32Array | undefined)[] = [];
  /** A slot contains the index of a record plus one, or 0 if the slot is empty. At least half of the slots of a table are empty. */
  readonly #tables: Int32Array[];
  /** Number of used slots of each hash table. */
  readonly #usedSlots = new Uint32Array(1 << tableBits);
  #oldestPosition = 0;
  #nextPosition = 0;

  constructor({ recordWords, keyWords, hashWord, recordsMax }: RecordRingOptions) {
    this.#recordWords = recordWords;
    this.#keyWords = keyWords;
    this.#hashWord = hashWord;
    this.#recordsMax = recordsMax;
    // With one additional chunk, the oldest and the newest record are never in the same chunk unless the chunk contains all records.
    this.#recordIndexMask = 2 ** Math.ceil(Math.log2(recordsMax + chunkRecords)) - 1;
    this.#tables = Array.from(this.#usedSlots, () => new Int32Array(tableSlotsMin));
  }

  get size(): number {
    return this.#nextPosition - this.#oldestPosition;
  }

  /** Position of the oldest record. Records at lower positions are removed. */
  get oldestPosition(): number {
    return this.#oldestPosition;
  }

  /** Position of the next record that is added. */
  get endPosition(): number {
    return this.#nextPosition;
  }

  /** Returns the position of the latest record with this key, or -1 if there is none. */
  find(key: Int32Array): number {
    const table = this.#tables[this.#tableNumber(key[this.#hashWord]!)]!;
    const recordIndex = table[this.#findSlot(table, key)]! - 1;
    if (recordIndex < 0) return -1;
    return this.#oldestPosition + ((recordIndex - this.#oldestPosition) & this.#recordIndexMask);
  }

  /**
   * Adds a record that consists of a key and zeros, and returns its position. From now on, `find` does not find older records with the same
   * key. Throws a RangeError if the ring is full.
   */
  add(key: Int32Array): number {
    if (this.size >= this.#recordsMax) throw new RangeError('record ring is full');
    const position = this.#nextPosition++;
    const recordIndex = position & this.#recordIndexMask;
    this.#chunks[recordIndex >>> chunkBits] ??= new Int32Array(chunkRecords * this.#recordWords);
    const chunk = this.getChunk(position);
    const offset = this.getOffset(position);
    for (let word = 0; word < this.#keyWords; word++) chunk[offset + word] = key[word]!;
    this.#addToIndex(recordIndex, key);
    return position;
  }

  /** Removes the oldest record and overwrites it with zeros. The ring must not be empty. */
  removeOldest(): void {
    const position = this.#oldestPosition++;
    const recordIndex = position & this.#recordIndexMask;
    this.#removeFromIndex(recordIndex);
    const chunk = this.getChunk(position);
    const offset = this.getOffset(position);
    for (let word = 0; word < this.#recordWords; word++) chunk[offset + word] = 0;
    if (this.#oldestPosition % chunkRecords === 0) this.#chunks[recordIndex >>> chunkBits] = undefined;
  }

  /** Removes all records. */
  clear(): void {
    while (this.size > 0) this.removeOldest();
  }

  /** Returns the memory that contains the record at a position, from `getOffset` on. The ring must contain the record. */
  getChunk(position: number): Int32Array {
    return this.#chunks[(position & this.#recordIndexMask) >>> chunkBits]!;
  }

  /** Returns the index of the record's first word in its chunk. */
  getOffset(position: number): number {
    return (position & (chunkRecords - 1)) * this.#recordWords;
  }

  /** Returns a copy of the records at these positions, which the ring must contain. */
  copyRecords(from: number, to: number): Int32Array {
    const copy = new Int32Array(Math.max(0, to - from) * this.#recordWords);
    for (let position = from; position < to; ) {
      const offset = this.getOffset(position);
      const count = Math.min(to - position, chunkRecords - offset / this.#recordWords);
      const words = this.getChunk(position).subarray(offset, offset + count * this.#recordWords);
      copy.set(words, (position - from) * this.#recordWords);
      position += count;
    }
    return copy;
  }

  #tableNumber(hash: number): number {
    return hash >>> (32 - tableBits);
  }

  #hashOfRecord(recordIndex: number): number {
    return this.#chunks[recordIndex >>> chunkBits]![this.getOffset(recordIndex) + this.#hashWord]!;
  }

  /** Returns the slot of a key, or the empty slot in which the key would be inserted. */
  #findSlot(table: Int32Array, key: Int32Array): number {
    const mask = table.length - 1;
    let slot = key[this.#hashWord]! & mask;
    while (table[slot] !== 0 && !this.#hasKey(table[slot]! - 1, key)) slot = (slot + 1) & mask;
    return slot;
  }

  #hasKey(recordIndex: number, key: Int32Array): boolean {
    const chunk = this.#chunks[recordIndex >>> chunkBits]!;
    const offset = this.getOffset(recordIndex);
    for (let word = 0; word < this.#keyWords; word++) if (chunk[offset + word] !== key[word]) return false;
    return true;
  }

  #addToIndex(recordIndex: number, key: Int32Array): void {
    const tableNumber = this.#tableNumber(key[this.#hashWord]!);
    const table = this.#tables[tableNumber]!;
    const slot = this.#findSlot(table, key);
    const isNewKey = table[slot] === 0;
    table[slot] = recordIndex + 1;
    if (!isNewKey) return;
    const usedSlots = ++this.#usedSlots[tableNumber]!;
    if (usedSlots * 2 > table.length) this.#resizeTable(tableNumber, table.length * 2);
  }

  /** Removes a record from the hash index. The index does not contain the record if a newer record has the same key. */
  #removeFromIndex(recordIndex: number): void {
    const hash = this.#hashOfRecord(recordIndex);
    const tableNumber = this.#tableNumber(hash);
    const table = this.#tables[tableNumber]!;
    const mask = table.length - 1;
    let slot = hash & mask;
    while (table[slot] !== recordIndex + 1) {
      if (table[slot] === 0) return;
      slot = (slot + 1) & mask;
    }
    this.#clearSlot(table, slot);
    const usedSlots = --this.#usedSlots[tableNumber]!;
    if (table.length > tableSlotsMin && usedSlots * 8 < table.length) this.#resizeTable(tableNumber, table.length / 2);
  }

  /** Clears a slot. Moves later entries into the cleared slot, because a lookup stops at an empty slot. */
  #clearSlot(table: Int32Array, slot: number): void {
    const mask = table.length - 1;
    let empty = slot;
    for (let next = (empty + 1) & mask; table[next] !== 0; next = (next + 1) & mask) {
      const home = this.#hashOfRecord(table[next]! - 1) & mask;
      if (((next - home) & mask) < ((next - empty) & mask)) continue;
      table[empty] = table[next]!;
      empty = next;
    }
    table[empty] = 0;
  }

  #resizeTable(tableNumber: number, slots: number): void {
    const table = this.#tables[tableNumber]!;
    const resized = new Int32Array(slots);
    const mask = slots - 1;
    for (let i = 0; i < table.length; i++) {
      if (table[i] === 0) continue;
      let slot = this.#hashOfRecord(table[i]! - 1) & mask;
      while (resized[slot] !== 0) slot = (slot + 1) & mask;
      resized[slot] = table[i]!;
    }
    this.#tables[tableNumber] = resized;
  }
}
