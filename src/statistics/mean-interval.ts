import { bounds } from '../bounds.ts';
import { varianceOfRatio } from './delta-method.ts';
import { normalQuantile95 } from './distributions.ts';

/** Sums over the units of one group, such as the matured sessions of one referrer tag. The unit of revenue can be any currency unit. */
export interface RevenueSums {
  readonly units: number;
  /** Number of units with revenue above 0; null if unknown. */
  readonly unitsWithRevenue: number | null;
  readonly revenue: number;
  /** Sum of the squared revenue of each unit. */
  readonly revenueSquared: number;
}

/** Mean revenue per session with its variance, such as an `ArmEstimate`. */
export interface MeanEstimate {
  readonly unitsWithRevenue: number | null;
  readonly mean: number;
  /** Variance of `mean`. */
  readonly variance: number;
}

/** Returns the 95 % confidence interval of the mean revenue per unit; see `intervalOfMean`. */
export function computeMeanInterval(sums: RevenueSums): { readonly low: number; readonly high: number } | null {
  const { units, unitsWithRevenue, revenue, revenueSquared } = sums;
  if (units === 0) return null;
  const variance = varianceOfRatio({
    units,
    numerator: revenue,
    denominator: units,
    numeratorSquared: revenueSquared,
    product: revenue,
    denominatorSquared: units,
  });
  return intervalOfMean({ unitsWithRevenue, mean: revenue / units, variance });
}

/**
 * Returns the 95 % confidence interval of a mean, from a normal approximation of the logarithm of the mean. Because the logarithm is
 * symmetric, the interval is wider above the mean and never reaches 0, as the skewed distribution of revenue requires. The interval is
 * valid for one look. Do not compare arms with it; use `compareArms`.
 *
 * Returns null in these cases:
 * - fewer than `bounds.unitsWithRevenueMin` units have revenue, their number is unknown, or the mean is not positive: the approximation is
 *   wrong too often
 * - the revenue of all units is equal, so that the variance cannot be estimated
 * - reversals make the mean so small that no limit exists
 */
export function intervalOfMean({
  unitsWithRevenue,
  mean,
  variance,
}: MeanEstimate): { readonly low: number; readonly high: number } | null {
  if (unitsWithRevenue === null || unitsWithRevenue < bounds.unitsWithRevenueMin || mean <= 0) return null;
  if (variance === 0) return null;
  const factor = Math.exp((normalQuantile95 * Math.sqrt(variance)) / mean);
  return Number.isFinite(factor) ? { low: mean / factor, high: mean * factor } : null;
}
