import type { RandomSource } from '../catalogs/seeded-random.ts';

export {
  type RandomSource as Random,
  randomBoolean as chance,
  randomInteger as wholeNumber,
  seededRandom,
} from '../catalogs/seeded-random.ts';

/** Values with weights. The sum of the weights can be any positive number. */
export type WeightedTable<Value> = readonly (readonly [value: Value, weight: number])[];

/** Returns the weighted quantile `at` of the values; `at` is in [0, 1). */
export function pickAtQuantile<Value>(table: WeightedTable<Value>, at: number): Value {
  let total = 0;
  for (const [, weight] of table) total += weight;
  let left = at * total;
  for (const [value, weight] of table) {
    left -= weight;
    if (left < 0) return value;
  }
  return table.at(-1)![0];
}

export function pickRandomByWeight<Value>(random: RandomSource, table: WeightedTable<Value>): Value {
  return pickAtQuantile(table, random());
}

/** Draws a number from the standard normal distribution (Box-Muller). */
export function drawStandardNormal(random: RandomSource): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

/** Draws the number of successes in independent trials. Draws the gaps between successes, so the time grows with the successes only. */
export function drawSuccesses(random: RandomSource, trials: number, probability: number): number {
  if (probability <= 0) return 0;
  const logFailure = Math.log1p(-probability);
  let successes = 0;
  for (let trial = 0; ; successes++) {
    trial += 1 + Math.floor(Math.log(1 - random()) / logFailure);
    if (trial > trials) return successes;
  }
}

/** Cumulative distribution function of the standard normal distribution, accurate to 1e-7 (Abramowitz and Stegun, 7.1.26). */
export function standardNormalCdf(z: number): number {
  const x = Math.abs(z) / Math.SQRT2;
  const t = 1 / (1 + 0.3275911 * x);
  const polynomial = ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592) * t;
  const error = 1 - polynomial * Math.exp(-x * x);
  return z < 0 ? (1 - error) / 2 : (1 + error) / 2;
}
