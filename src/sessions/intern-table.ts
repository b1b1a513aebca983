/**
 * Values that many hold, each known by a small number for as long as anybody holds it: what is packed into numbers can refer
 * to objects that way, and an object nobody refers to any more is let go.
 */
export class InternTable<Value> {
  readonly #indexes = new Map<Value, number>();
  readonly #values: (Value | undefined)[] = [];
  readonly #referenceCounts: number[] = [];
  readonly #freeIndexes: number[] = [];

  /** How many values are held. */
  get size(): number {
    return this.#indexes.size;
  }

  /** The number of the value, held once more. */
  intern(value: Value): number {
    let place = this.#indexes.get(value);
    if (place === undefined) {
      place = this.#freeIndexes.pop() ?? this.#values.length;
      this.#indexes.set(value, place);
      this.#values[place] = value;
      this.#referenceCounts[place] = 0;
    }
    this.#referenceCounts[place]!++;
    return place;
  }

  /** Only for the number of a value that is held. */
  get(place: number): Value {
    return this.#values[place] as Value;
  }

  /** Held once less. */
  release(place: number): void {
    if (--this.#referenceCounts[place]! > 0) return;
    this.#indexes.delete(this.get(place));
    this.#values[place] = undefined;
    this.#freeIndexes.push(place);
  }
}
