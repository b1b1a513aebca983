/** A source of randomness: each call gives the next number of [0, 1). The same seed gives the same numbers for ever. */
export type Random = () => number;

/** A table of values and how often each occurs; weights need not add up to anything in particular. */
export type Weighted<Value> = readonly (readonly [value: Value, weight: number])[];

/**
 * Mulberry32 (Tommy Ettinger, public domain): a counter that grows by an odd constant, so that it passes every 32-bit
 * state once, and a multiply-and-shift hash of it. Small, fast, good enough to draw people with, and no secret is ever
 * drawn from it.
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

/** One value of a table, as often as its weight says. `at` of [0, 1) is the share of the table passed over. */
export function pickAt<Value>(table: Weighted<Value>, at: number): Value {
  let total = 0;
  for (const [, weight] of table) total += weight;
  let left = at * total;
  for (const [value, weight] of table) {
    left -= weight;
    if (left < 0) return value;
  }
  return table.at(-1)![0];
}

export function pick<Value>(random: Random, table: Weighted<Value>): Value {
  return pickAt(table, random());
}

export function chance(random: Random, probability: number): boolean {
  return random() < probability;
}

/** A whole number from `low` to `high`, both included. */
export function wholeNumber(random: Random, low: number, high: number): number {
  return low + Math.floor(random() * (high - low + 1));
}

/** A number of the standard normal distribution (Box and Muller). */
export function standardNormal(random: Random): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

/** The share of the standard normal distribution below `z`, to 1e-7 (Abramowitz and Stegun, 7.1.26). */
export function normalShareBelow(z: number): number {
  const x = Math.abs(z) / Math.SQRT2;
  const t = 1 / (1 + 0.3275911 * x);
  const polynomial = ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592) * t;
  const error = 1 - polynomial * Math.exp(-x * x);
  return z < 0 ? (1 - error) / 2 : (1 + error) / 2;
}
