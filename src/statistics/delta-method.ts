/** Sums over independent units of a numerator x and a denominator y of each unit, such as the revenue and the sessions of a visitor. */
export interface RatioSums {
  readonly units: number;
  readonly numerator: number;
  readonly denominator: number;
  readonly numeratorSquared: number;
  /** Sum of x times y. */
  readonly product: number;
  readonly denominatorSquared: number;
}

/** Part of the sum of squares below which a variance is rounding error. */
const roundingError = 1e-12;

/**
 * Returns the variance of the ratio sum(x) / sum(y), from the delta method (Deng, Knoblich and Lu, "Applying the Delta Method in Metric
 * Analytics", KDD 2018). If y is 1 for each unit, the result is the sample variance of x divided by the number of units.
 *
 * The result is 0 if there are fewer than two units, if the ratio of every unit is the same, or if the sum of the denominators is 0.
 */
export function varianceOfRatio(sums: RatioSums): number {
  const { units, numerator, denominator, numeratorSquared, product, denominatorSquared } = sums;
  if (units < 2 || denominator <= 0) return 0;
  const ratio = numerator / denominator;
  const squares = numeratorSquared + ratio ** 2 * denominatorSquared;
  const residualSquares = squares - 2 * ratio * product;
  // Also below 0 if the revenue in the squares was rounded down.
  if (residualSquares <= squares * roundingError) return 0;
  return ((units / (units - 1)) * residualSquares) / denominator ** 2;
}
