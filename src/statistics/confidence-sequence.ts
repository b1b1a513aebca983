/**
 * Asymptotic confidence sequence of a mean: intervals that contain the true value at all looks together with a given probability, however
 * often somebody looks. Source: Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas, "Time-uniform central limit theory and asymptotic confidence
 * sequences", Annals of Statistics 52 (2024), with Robbins' normal mixture as boundary. The p value is that of a mixture test (Johari,
 * Koomen, Pekelis and Walsh, "Always Valid Inference", Operations Research 70, 2022).
 */

/** Number of units with revenue per arm at which the sequence is narrowest in relation to an interval for one look. */
const tunedUnits = 150;

/**
 * Returns the sample size of the mixture, in relation to `tunedUnits`, that makes the sequence narrowest at `tunedUnits`: the largest solution of
 * x = ln(1 + x) - 2 ln(alpha), for 0 < alpha < 1.
 */
export function tuneSequence(alpha: number): number {
  let x = 10;
  // Each round reduces the error by the factor 1 / (1 + x), which is below 0.2 for alpha up to 0.1.
  for (let round = 0; round < 60; round++) x = Math.log1p(x) - 2 * Math.log(alpha);
  return x;
}

/**
 * Returns the amount of information of a comparison: the harmonic mean of the units with revenue of both arms, in relation to the prior of
 * the mixture. 0 if an arm has no such unit.
 */
export function mixtureTime(tuning: number, unitsWithRevenue: number, controlUnitsWithRevenue: number): number {
  if (unitsWithRevenue <= 0 || controlUnitsWithRevenue <= 0) return 0;
  return (tuning * 2) / (1 / unitsWithRevenue + 1 / controlUnitsWithRevenue) / tunedUnits;
}

/** Returns the half width of the interval in standard errors, at a mixture time > 0, for a sequence with error probability `alpha`. */
export function sequenceMultiplier(time: number, alpha: number): number {
  return Math.sqrt((1 + 1 / time) * (Math.log1p(time) - 2 * Math.log(alpha)));
}

/**
 * Returns the p value of one look, from 0 to 1. `z` is the estimate divided by its standard error. The minimum over all looks is valid at
 * any time: it is at most `alpha` exactly if the interval of some look excludes 0.
 */
export function sequencePValue(time: number, z: number): number {
  return Math.min(1, Math.sqrt(1 + time) * Math.exp((-z * z * time) / (2 * (1 + time))));
}
