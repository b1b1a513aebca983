import { bounds } from '../bounds.ts';

/** Offers with the lowest sort keys, ascending by key and then by offer number (docs/contract.md#sort-orders). */
export class TopOffers {
  readonly #keys = new Float64Array(bounds.offersRankedMax);
  readonly #offers = new Uint16Array(bounds.offersRankedMax);
  #size = 0;
  #capacity = 0;

  /** Clears the list. `capacity` must be at most `bounds.offersRankedMax`. */
  reset(capacity: number): void {
    this.#size = 0;
    this.#capacity = capacity;
  }

  /** Sort key of the last offer in a full list, which is the largest key that `add` accepts; `Infinity` while the list has room. */
  get highestAcceptedSortKey(): number {
    return this.#size < this.#capacity ? Number.POSITIVE_INFINITY : this.#keys[this.#capacity - 1]!;
  }

  /** Adds an offer that is not in the list yet. A full list drops its last offer, or ignores an offer that sorts after it. */
  add(offer: number, key: number): void {
    const keys = this.#keys;
    const offers = this.#offers;
    let index = this.#size;
    if (index === this.#capacity) {
      index--;
      if (key > keys[index]! || (key === keys[index]! && offer > offers[index]!)) return;
    } else {
      this.#size++;
    }
    for (; index > 0 && (key < keys[index - 1]! || (key === keys[index - 1]! && offer < offers[index - 1]!)); index--) {
      keys[index] = keys[index - 1]!;
      offers[index] = offers[index - 1]!;
    }
    keys[index] = key;
    offers[index] = offer;
  }

  /** Calls `visit` with each offer, in order. */
  forEachOffer(visit: (offer: number) => void): void {
    for (let index = 0; index < this.#size; index++) visit(this.#offers[index]!);
  }

  copyOffers(orders: Uint16Array, from: number): void {
    for (let index = 0; index < this.#size; index++) orders[from + index] = this.#offers[index]!;
  }
}
