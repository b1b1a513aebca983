import { normalQuantileOfUpperTail } from './distributions.ts';
import type { ArmEstimate } from './variance-floor.ts';

/** Units that a design needs in relation to a single look at the end. See docs/contributing/decisions/experiments.md#planning. */
const plannedDayFactor = 1.08;
const sequenceFactor = 1.8;
/** Normal quantile of the power: a true effect of the planned size is found in 80 %. */
const powerQuantile = normalQuantileOfUpperTail(0.2);

export interface PlanningInput {
  readonly arm: ArmEstimate;
  readonly control: ArmEstimate;
  /** Intended shares, in relation to each other. */
  readonly armWeight: number;
  readonly controlWeight: number;
  /** Number of arms besides the control. */
  readonly comparisons: number;
  /** Smallest effect of interest as a share of the control's mean, such as 0.1. */
  readonly minEffect: number;
  /** Units of the arm that become mature each day. */
  readonly unitsPerDay: number;
  /** Days until the planned day; null without a planned day. */
  readonly daysToPlannedDay: number | null;
}

export interface Planning {
  /** Mature units that the arm needs for a power of 80 %. */
  readonly unitsNeeded: number;
  readonly unitsLeft: number;
  /** Days left at the present rate; null if no units arrive. */
  readonly daysLeft: number | null;
  /** If the planned day comes earlier: the effect, as a share of the control's mean, that is found by then in 80 %. Otherwise null. */
  readonly smallestEffect: number | null;
}

export interface DesignInput extends Pick<PlanningInput, 'armWeight' | 'controlWeight' | 'comparisons'> {
  /** Variance of the revenue of one unit of each arm. */
  readonly armVariance: number;
  readonly controlVariance: number;
  readonly hasPlannedDay: boolean;
}

/**
 * Returns the number of units of the arm times the square of the difference of the means that is found in 80 % of the experiments with this
 * number of units. The unit of the difference is that of the revenue.
 */
export function relateUnitsToEffect(input: DesignInput): number {
  const { armVariance, controlVariance, armWeight, controlWeight, comparisons, hasPlannedDay } = input;
  const quantile = normalQuantileOfUpperTail(0.025 / comparisons) + powerQuantile;
  const factor = hasPlannedDay ? plannedDayFactor : sequenceFactor;
  // An arm with a larger share has more units, so its units add less to the variance of the difference.
  return factor * quantile ** 2 * (armVariance + (controlVariance * armWeight) / controlWeight);
}

/**
 * Estimates how many units the arm needs. The formula is that of a two-sided normal test for the difference of two means at 5 % (Wittes,
 * "Sample Size Calculations for Randomized Controlled Trials", Epidemiologic Reviews 24, 2002), with the variance of each arm and
 * the intended split, times a factor for looks before the end.
 *
 * Returns null if the units of an arm do not differ, as before its first revenue, or if the control's mean is not above 0.
 */
export function planUnits(input: PlanningInput): Planning | null {
  const { arm, control, armWeight, controlWeight, comparisons, minEffect, unitsPerDay, daysToPlannedDay } = input;
  if (arm.flooredVariance === 0 || control.flooredVariance === 0 || control.mean <= 0) return null;
  const unitsTimesSquaredEffect = relateUnitsToEffect({
    armVariance: arm.flooredVariance * arm.units,
    controlVariance: control.flooredVariance * control.units,
    armWeight,
    controlWeight,
    comparisons,
    hasPlannedDay: daysToPlannedDay !== null,
  });
  const unitsNeeded = Math.ceil(unitsTimesSquaredEffect / (minEffect * control.mean) ** 2);
  const unitsLeft = Math.max(0, unitsNeeded - arm.units);
  const unitsAtPlannedDay = arm.units + unitsPerDay * (daysToPlannedDay ?? 0);
  const suffices = daysToPlannedDay === null || unitsAtPlannedDay >= unitsNeeded;
  return {
    unitsNeeded,
    unitsLeft,
    daysLeft: unitsLeft === 0 ? 0 : unitsPerDay > 0 ? Math.ceil(unitsLeft / unitsPerDay) : null,
    smallestEffect: suffices ? null : Math.sqrt(unitsTimesSquaredEffect / unitsAtPlannedDay) / control.mean,
  };
}
