const widgetDigestBytes = 8;

/**
 * A small set of 8-byte digests, each kept as two integers of one plain list: sixteen bytes an item, where a Set of texts takes
 * four times as much, and millions of sessions may have one. Looking for one walks the list.
 */
export class DigestSet {
  readonly #halves: number[] = [];

  get size(): number {
    return this.#halves.length / 2;
  }

  has(item: Uint8Array): boolean {
    return this.#indexOf(item) >= 0;
  }

  /** Puts one in that is not here yet. */
  add(item: Uint8Array): void {
    this.#halves.push(readInt32(item, 0), readInt32(item, 4));
  }

  delete(item: Uint8Array): void {
    const place = this.#indexOf(item);
    if (place >= 0) this.#halves.splice(place, 2);
  }

  /** Place of an item's first half, or -1. */
  #indexOf(item: Uint8Array): number {
    if (item.byteLength !== widgetDigestBytes) throw new RangeError(`a digest has ${widgetDigestBytes} bytes`);
    const first = readInt32(item, 0);
    const second = readInt32(item, 4);
    const halves = this.#halves;
    for (let at = 0; at < halves.length; at += 2) {
      if (halves[at] === first && halves[at + 1] === second) return at;
    }
    return -1;
  }
}

/** Four bytes as a signed integer, which takes no room outside the list. */
function readInt32(item: Uint8Array, at: number): number {
  return item[at]! | (item[at + 1]! << 8) | (item[at + 2]! << 16) | (item[at + 3]! << 24);
}
