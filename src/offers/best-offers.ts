import { bounds } from '../bounds.ts';

/** The best few offers by one key, the least first, in the order they were added where keys are equal. */
export class BestOffers {
  readonly #keys = new Float64Array(bounds.offersMax);
  readonly #offers = new Uint16Array(bounds.offersMax);
  #size = 0;

  clear(): void {
    this.#size = 0;
  }

  add(offer: number, key: number): void {
    const keys = this.#keys;
    let at = this.#size;
    if (at === keys.length) {
      at--;
      if (key >= keys[at]!) return;
    } else {
      this.#size++;
    }
    for (; at > 0 && key < keys[at - 1]!; at--) {
      keys[at] = keys[at - 1]!;
      this.#offers[at] = this.#offers[at - 1]!;
    }
    keys[at] = key;
    this.#offers[at] = offer;
  }

  copyTo(orders: Uint16Array, from: number): void {
    for (let at = 0; at < this.#size; at++) orders[from + at] = this.#offers[at]!;
  }
}
