/** Returns a pseudorandom number in [0, 1) for each call. The same seed gives the same sequence. */
export type RandomSource = () => number;

/** Creates a Mulberry32 generator (Tommy Ettinger, public domain). The generator is fast, but not suitable for secrets. */
export function seededRandom(seed: number): RandomSource {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let hash = Math.imul(state ^ (state >>> 15), state | 1);
    hash ^= hash + Math.imul(hash ^ (hash >>> 7), hash | 61);
    return ((hash ^ (hash >>> 14)) >>> 0) / 2 ** 32;
  };
}

export function randomBoolean(random: RandomSource, probability: number): boolean {
  return random() < probability;
}

/** Returns an integer from `low` to `high`, inclusive. */
export function randomInteger(random: RandomSource, low: number, high: number): number {
  return low + Math.floor(random() * (high - low + 1));
}

/** Returns a random element of `values`. Each element is equally likely. */
export function randomElement<Value>(random: RandomSource, values: readonly Value[]): Value {
  return values[Math.floor(random() * values.length)]!;
}
