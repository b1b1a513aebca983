/** Stores each distinct value once and counts its references. A packed record contains the index of a value instead of the value. */
export class InternTable<Value> {
  readonly #indexes = new Map<Value, number>();
  readonly #values: (Value | undefined)[] = [];
  readonly #referenceCounts: number[] = [];
  readonly #freeIndexes: number[] = [];

  get size(): number {
    return this.#indexes.size;
  }

  /** Returns the index of a value and increments the value's reference count. Adds the value if it is new. */
  internValue(value: Value): number {
    let index = this.#indexes.get(value);
    if (index === undefined) {
      index = this.#freeIndexes.pop() ?? this.#values.length;
      this.#indexes.set(value, index);
      this.#values[index] = value;
      this.#referenceCounts[index] = 0;
    }
    this.#referenceCounts[index]!++;
    return index;
  }

  /** Returns the value at an index. The reference count of the value must be positive. */
  get(index: number): Value {
    return this.#values[index] as Value;
  }

  /** Decrements the reference count of the value at an index, and removes a value without references. */
  releaseValue(index: number): void {
    if (--this.#referenceCounts[index]! > 0) return;
    this.#indexes.delete(this.get(index));
    this.#values[index] = undefined;
    this.#freeIndexes.push(index);
  }
}
