/**
 * Values that many hold, each known by a small number for as long as anybody holds it: what is packed into numbers can refer
 * to objects that way, and an object nobody refers to any more is let go.
 */
export class SharedValues<Value> {
  readonly #places = new Map<Value, number>();
  readonly #values: (Value | undefined)[] = [];
  readonly #holders: number[] = [];
  readonly #free: number[] = [];

  /** How many values are held. */
  get size(): number {
    return this.#places.size;
  }

  /** The number of the value, held once more. */
  hold(value: Value): number {
    let place = this.#places.get(value);
    if (place === undefined) {
      place = this.#free.pop() ?? this.#values.length;
      this.#places.set(value, place);
      this.#values[place] = value;
      this.#holders[place] = 0;
    }
    this.#holders[place]!++;
    return place;
  }

  /** Only for the number of a value that is held. */
  at(place: number): Value {
    return this.#values[place] as Value;
  }

  /** Held once less. */
  release(place: number): void {
    if (--this.#holders[place]! > 0) return;
    this.#places.delete(this.at(place));
    this.#values[place] = undefined;
    this.#free.push(place);
  }
}
