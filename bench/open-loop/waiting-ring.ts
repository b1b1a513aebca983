/** A queue of whole numbers with room for so many, first in, first out. */
export class BoundedQueue {
  readonly #items: Int32Array;
  #first = 0;
  #size = 0;

  constructor(sizeMax: number) {
    this.#items = new Int32Array(sizeMax);
  }

  get size(): number {
    return this.#size;
  }

  /** False when there is no room. */
  tryPush(item: number): boolean {
    if (this.#size === this.#items.length) return false;
    this.#items[(this.#first + this.#size) % this.#items.length] = item;
    this.#size++;
    return true;
  }

  /** The oldest, which stays; undefined when there is none. */
  peek(): number | undefined {
    return this.#size === 0 ? undefined : this.#items[this.#first]!;
  }

  /** The oldest, which is taken out. */
  shift(): number | undefined {
    const item = this.peek();
    if (item === undefined) return undefined;
    this.#first = (this.#first + 1) % this.#items.length;
    this.#size--;
    return item;
  }
}
