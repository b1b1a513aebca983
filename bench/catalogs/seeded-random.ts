/** A source of randomness: each call gives the next number of [0, 1). The same seed gives the same numbers for ever. */
export type Random = () => number;

/**
 * Mulberry32 (Tommy Ettinger, public domain): a counter that grows by an odd constant, so that it passes every 32-bit
 * state once, and a multiply-and-shift hash of it. Small, fast, good enough to draw people and offers with, and no secret is
 * ever drawn from it.
 */
export function seededRandom(seed: number): Random {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let hash = Math.imul(state ^ (state >>> 15), state | 1);
    hash ^= hash + Math.imul(hash ^ (hash >>> 7), hash | 61);
    return ((hash ^ (hash >>> 14)) >>> 0) / 2 ** 32;
  };
}

export function randomBoolean(random: Random, probability: number): boolean {
  return random() < probability;
}

/** A whole number from `low` to `high`, both included. */
export function randomInteger(random: Random, low: number, high: number): number {
  return low + Math.floor(random() * (high - low + 1));
}

/** One of some values, each as likely as the others. */
export function randomElement<Value>(random: Random, values: readonly Value[]): Value {
  return values[Math.floor(random() * values.length)]!;
}
