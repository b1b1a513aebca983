import { type ArmSums, revenuePerSession } from './arm-sums.ts';
import { varianceOfRatio } from './delta-method.ts';

/** Revenue per session of one arm, in USD. */
export interface ArmEstimate {
  readonly sessions: number;
  readonly units: number;
  readonly unitsWithRevenue: number;
  /** Mean revenue per session; 0 without sessions. */
  readonly mean: number;
  /** Variance of `mean`. */
  readonly variance: number;
  /** Variance of `mean`, raised to the floor; used to compare arms. */
  readonly flooredVariance: number;
}

/** Moments of the revenue of the units of one arm that have revenue. */
interface PositiveRevenue {
  readonly units: number;
  readonly mean: number;
  readonly squares: number;
}

/**
 * Estimates the mean revenue per session of each arm, and its variance with a floor.
 *
 * Payouts are skewed: with few of them, most arms have not met a large one, and their variance is too low just when their mean is too low.
 * The floor borrows the size of the squares from all arms together: in absolute terms, and relative to the mean payout of the arm. It never
 * lowers a variance, and it loses its effect as all arms meet the same payouts. The figures that led to it are in
 * docs/contributing/decisions/experiments.md#variance-floor.
 */
export function estimateArms(arms: readonly ArmSums[]): ArmEstimate[] {
  const positives = arms.map(positiveRevenue);
  let [units, squares, relativeSquares] = [0, 0, 0];
  for (const arm of positives) {
    if (arm === null) continue;
    units += arm.units;
    squares += arm.squares;
    relativeSquares += arm.squares / arm.mean ** 2;
  }
  return arms.map((sums, index) => {
    const ratio = revenuePerSession(sums);
    const variance = varianceOfRatio(ratio);
    const own = positives[index]!;
    const ownSquare = own === null ? 1 : own.squares / own.units;
    const floor =
      own === null
        ? 1
        : Math.max(1, squares / units / ownSquare, ((relativeSquares / units) * own.mean ** 2) / ownSquare);
    return {
      sessions: sums.sessions,
      units: sums.units,
      unitsWithRevenue: sums.unitsWithRevenue,
      mean: sums.sessions > 0 ? ratio.numerator / sums.sessions : 0,
      variance,
      flooredVariance: variance * floor,
    };
  });
}

/** Returns null without revenue. The mean square is at least the squared mean, even if cents round the squares down. */
function positiveRevenue(sums: ArmSums): PositiveRevenue | null {
  const { numerator, numeratorSquared } = revenuePerSession(sums);
  const units = sums.unitsWithRevenue;
  if (units <= 0 || numerator <= 0) return null;
  return { units, mean: numerator / units, squares: Math.max(numeratorSquared, numerator ** 2 / units) };
}
