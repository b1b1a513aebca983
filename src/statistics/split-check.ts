import { chiSquareUpperTail, logGamma } from './distributions.ts';

/** Weight of the prior of the split, in units. */
const concentration = 100;

export interface ArmUnits {
  readonly units: number;
  /** Intended share, in relation to the other arms. */
  readonly weight: number;
}

/**
 * Returns the logarithm of a test martingale for "units arrive in the intended split". If they do, the martingale ever reaches 1 / alpha
 * with probability alpha at most, however often somebody looks. Source: Lindon and Malek, "Anytime-Valid Inference For Multinomial
 * Count Data", NeurIPS 2022, with a Dirichlet prior around the intended split.
 *
 * `arms` has every arm, also those without units.
 */
export function splitLogMartingale(arms: readonly ArmUnits[]): number {
  const totalWeight = arms.reduce((sum, { weight }) => sum + weight, 0);
  const totalUnits = arms.reduce((sum, { units }) => sum + units, 0);
  let logMartingale = logGamma(concentration) - logGamma(concentration + totalUnits);
  for (const { units, weight } of arms) {
    const share = weight / totalWeight;
    logMartingale +=
      logGamma(concentration * share + units) - logGamma(concentration * share) - units * Math.log(share);
  }
  return logMartingale;
}

/** Returns the p value of Pearson's chi-square test of the same split, which is valid for one look only; null without units. */
export function splitChiSquareP(arms: readonly ArmUnits[]): number | null {
  const totalWeight = arms.reduce((sum, { weight }) => sum + weight, 0);
  const totalUnits = arms.reduce((sum, { units }) => sum + units, 0);
  if (totalUnits === 0) return null;
  const statistic = arms.reduce((sum, { units, weight }) => {
    const expected = (totalUnits * weight) / totalWeight;
    return sum + (units - expected) ** 2 / expected;
  }, 0);
  return chiSquareUpperTail(statistic, arms.length - 1);
}
