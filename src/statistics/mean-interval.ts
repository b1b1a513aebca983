import { bounds } from '../bounds.ts';

/** Sums over the units of one group, such as the matured sessions of one referrer tag. The unit of revenue can be any currency unit. */
export interface RevenueSums {
  readonly units: number;
  /** Number of units with revenue above 0; null if unknown. */
  readonly unitsWithRevenue: number | null;
  readonly revenue: number;
  /** Sum of the squared revenue of each unit. */
  readonly revenueSquared: number;
}

/** Two-sided 95 % quantile of the normal distribution. */
const normalQuantile = 1.96;

/**
 * Returns the 95 % confidence interval of the mean revenue per unit, from a normal approximation of the logarithm of the mean. Because the
 * logarithm is symmetric, the interval is wider above the mean and never reaches 0, as the skewed distribution of revenue requires.
 *
 * Returns null if fewer than `bounds.unitsWithRevenueMin` units have revenue, if their number is unknown, or if the mean is not positive:
 * with less revenue, the approximation is wrong too often.
 */
export function computeMeanInterval(sums: RevenueSums): { readonly low: number; readonly high: number } | null {
  const { units, unitsWithRevenue, revenue, revenueSquared } = sums;
  if (unitsWithRevenue === null || unitsWithRevenue < bounds.unitsWithRevenueMin || revenue <= 0) return null;
  const mean = revenue / units;
  // The difference may be slightly below 0, because the revenue in the squares is rounded.
  const varianceOfMean = Math.max(0, revenueSquared / units - mean ** 2) / (units - 1);
  const factor = Math.exp((normalQuantile * Math.sqrt(varianceOfMean)) / mean);
  return { low: mean / factor, high: mean * factor };
}
