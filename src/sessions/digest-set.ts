const itemBytes = 8;

/**
 * A small set of 8-byte digests, kept end to end in one growing buffer: ten of them take a hundred bytes, where a Set of
 * texts takes ten times as much, and millions of sessions may have one. Looking for one walks the buffer.
 */
export class DigestSet {
  #items = Buffer.alloc(itemBytes);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  has(item: Uint8Array): boolean {
    return this.#find(item) >= 0;
  }

  /** Puts one in that is not here yet. */
  add(item: Uint8Array): void {
    const end = this.#size * itemBytes;
    if (end === this.#items.length) {
      const grown = Buffer.alloc(2 * end);
      this.#items.copy(grown);
      this.#items = grown;
    }
    this.#items.set(item, end);
    this.#size++;
  }

  delete(item: Uint8Array): void {
    const place = this.#find(item);
    if (place < 0) return;
    this.#size--;
    this.#items.copyWithin(place, this.#size * itemBytes, (this.#size + 1) * itemBytes);
  }

  /** Offset of an item, or -1. */
  #find(item: Uint8Array): number {
    const { buffer, byteOffset, byteLength } = item;
    if (byteLength !== itemBytes) throw new RangeError(`a digest has ${itemBytes} bytes`);
    const wanted = Buffer.from(buffer, byteOffset, byteLength);
    const first = wanted.readUInt32LE(0);
    const second = wanted.readUInt32LE(4);
    const end = this.#size * itemBytes;
    for (let at = 0; at < end; at += itemBytes) {
      if (this.#items.readUInt32LE(at) === first && this.#items.readUInt32LE(at + 4) === second) return at;
    }
    return -1;
  }
}
