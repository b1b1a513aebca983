/** Tags have up to 64 characters; a tag's length is kept in one byte. */
const tagBytesMax = 255;
const indexSlotsMin = 16;

/** The tag being looked for, in bytes. */
const lookupBytes = Buffer.alloc(tagBytesMax);

/**
 * A set of ASCII tags outside the JavaScript heap: one byte more than its characters for each tag, and 8 to 16 for its slots in
 * the index, up to twice that since both double as they grow. As strings in a Set, 100,000 tags would be as many objects for
 * the garbage collector to visit.
 *
 * The hash is not keyed: a caller who looks for tags that collide slows only the sessions of its own account.
 */
export class TagSet {
  /** The tags end to end, each behind its length. */
  #bytes = Buffer.alloc(indexSlotsMin * 16);
  #usedBytes = 0;
  /** Offsets in `#bytes` plus one, by hash; 0 for an empty slot. At least half of the slots are empty. */
  #index = new Int32Array(indexSlotsMin);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  has(tag: string): boolean {
    return this.#index[this.#findSlot(lookupBytes.write(tag, 'latin1'))] !== 0;
  }

  /** Adds a tag, unless it is here. */
  add(tag: string): void {
    const length = lookupBytes.write(tag, 'latin1');
    const slot = this.#findSlot(length);
    if (this.#index[slot] !== 0) return;
    if (this.#usedBytes + 1 + length > this.#bytes.length) this.#bytes = Buffer.concat([this.#bytes], this.#bytes.length * 2);
    this.#bytes[this.#usedBytes] = length;
    lookupBytes.copy(this.#bytes, this.#usedBytes + 1, 0, length);
    this.#index[slot] = this.#usedBytes + 1;
    this.#usedBytes += 1 + length;
    this.#size++;
    if (this.#size * 2 >= this.#index.length) this.#growIndex();
  }

  /** The slot that the sought tag has, or would get. */
  #findSlot(length: number): number {
    const mask = this.#index.length - 1;
    let slot = fnv1a(lookupBytes, 0, length) & mask;
    while (this.#index[slot] !== 0 && !this.#hasLookupTagAt(this.#index[slot]! - 1, length)) slot = (slot + 1) & mask;
    return slot;
  }

  #hasLookupTagAt(offset: number, length: number): boolean {
    const bytes = this.#bytes;
    if (bytes[offset] !== length) return false;
    for (let i = 0; i < length; i++) if (bytes[offset + 1 + i] !== lookupBytes[i]) return false;
    return true;
  }

  #growIndex(): void {
    const index = new Int32Array(this.#index.length * 2);
    const mask = index.length - 1;
    for (let offset = 0; offset < this.#usedBytes; ) {
      const next = offset + 1 + this.#bytes[offset]!;
      let slot = fnv1a(this.#bytes, offset + 1, next) & mask;
      while (index[slot] !== 0) slot = (slot + 1) & mask;
      index[slot] = offset + 1;
      offset = next;
    }
    this.#index = index;
  }
}

/** FNV-1a, 32 bits. */
function fnv1a(bytes: Buffer, start: number, end: number): number {
  let hash = 0x811c9dc5;
  for (let at = start; at < end; at++) hash = Math.imul(hash ^ bytes[at]!, 0x01000193);
  return hash ^ (hash >>> 15);
}
