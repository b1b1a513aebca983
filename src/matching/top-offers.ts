import { bounds } from '../bounds.ts';

/** The best few offers by one key, the least first; the lower offer number breaks ties (docs/contract.md#sort-orders). */
export class TopOffers {
  readonly #keys = new Float64Array(bounds.offersRankedMax);
  readonly #offers = new Uint16Array(bounds.offersRankedMax);
  #size = 0;
  #capacity = 0;

  /** Starts anew, with so many places, at most `bounds.offersRankedMax`. */
  reset(capacity: number): void {
    this.#size = 0;
    this.#capacity = capacity;
  }

  /** No offer with a greater key is taken any more: the key of the last place, infinite while there is room. */
  get keyLimit(): number {
    return this.#size < this.#capacity ? Number.POSITIVE_INFINITY : this.#keys[this.#capacity - 1]!;
  }

  /** Adds an offer that is not among them, in any order. */
  add(offer: number, key: number): void {
    const keys = this.#keys;
    const offers = this.#offers;
    let at = this.#size;
    if (at === this.#capacity) {
      at--;
      if (key > keys[at]! || (key === keys[at]! && offer > offers[at]!)) return;
    } else {
      this.#size++;
    }
    for (; at > 0 && (key < keys[at - 1]! || (key === keys[at - 1]! && offer < offers[at - 1]!)); at--) {
      keys[at] = keys[at - 1]!;
      offers[at] = offers[at - 1]!;
    }
    keys[at] = key;
    offers[at] = offer;
  }

  copyTo(orders: Uint16Array, from: number): void {
    for (let at = 0; at < this.#size; at++) orders[from + at] = this.#offers[at]!;
  }
}
