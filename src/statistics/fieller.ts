import type { ArmEstimate } from './variance-floor.ts';

/** An estimate with the limits of its interval. */
export interface IntervalEstimate {
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

/**
 * Returns the relative difference of the means of an arm and the control, such as 0.27 for 27 % more, with the interval of Fieller ("Some
 * problems in interval estimation", Journal of the Royal Statistical Society B 16, 1954). The interval excludes 0 exactly if the interval of
 * the difference with the same `multiplier` excludes 0. Its lower limit is at least -1, because revenue per session is never negative.
 *
 * Returns null if the control's mean is not above 0 by more than `multiplier` standard errors: then no finite interval exists.
 */
export function relativeDifference(
  arm: ArmEstimate,
  control: ArmEstimate,
  multiplier: number,
): IntervalEstimate | null {
  const armVariance = multiplier ** 2 * arm.flooredVariance;
  const controlVariance = multiplier ** 2 * control.flooredVariance;
  const certainSquare = control.mean ** 2 - controlVariance;
  if (control.mean <= 0 || certainSquare <= 0) return null;
  const root = Math.sqrt(armVariance * certainSquare + controlVariance * arm.mean ** 2);
  const middle = arm.mean * control.mean;
  return {
    value: arm.mean / control.mean - 1,
    low: Math.max(-1, (middle - root) / certainSquare - 1),
    high: Math.max(-1, (middle + root) / certainSquare - 1),
  };
}
