import { mixtureTime, sequenceMultiplier, sequencePValue } from './confidence-sequence.ts';
import { normalUpperTail } from './distributions.ts';
import { type IntervalEstimate, relativeDifference } from './fieller.ts';
import type { LookRule } from './look-rule.ts';
import type { ArmEstimate } from './variance-floor.ts';

/** Result of one look at the difference of an arm and the control. */
export interface ComparisonLook {
  /** Difference of the revenue per session, in USD, with the interval of this look. */
  readonly difference: IntervalEstimate;
  /** Difference in relation to the control; null if the control's mean is too uncertain. */
  readonly relative: IntervalEstimate | null;
  /**
   * p value of this look, corrected for several arms and looks. The p value of the comparison is the minimum over its looks. It is at
   * most 0.05 exactly if the interval of some look excludes 0.
   */
  readonly pValue: number;
}

/**
 * Compares an arm with the control. On the planned day, the interval is a plain normal interval; at all other looks, it is that of a
 * confidence sequence (see `createLookRule`).
 *
 * Returns null if an arm has no unit with revenue, or if the units of an arm do not differ: then nothing is known about its spread.
 */
export function compareArms(
  arm: ArmEstimate,
  control: ArmEstimate,
  rule: LookRule,
  isPlannedDay: boolean,
): ComparisonLook | null {
  const time = mixtureTime(rule.tuning, arm.unitsWithRevenue, control.unitsWithRevenue);
  if (time === 0 || arm.flooredVariance === 0 || control.flooredVariance === 0) return null;
  const standardError = Math.sqrt(arm.flooredVariance + control.flooredVariance);
  const value = arm.mean - control.mean;
  const z = value / standardError;
  const multiplier = (isPlannedDay ? rule.plannedMultiplier : null) ?? sequenceMultiplier(time, rule.alpha);
  const sequenceP = rule.sequenceFactor * sequencePValue(time, z);
  const plannedP = isPlannedDay ? rule.plannedFactor * 2 * normalUpperTail(Math.abs(z)) : 1;
  const halfWidth = multiplier * standardError;
  return {
    difference: { value, low: value - halfWidth, high: value + halfWidth },
    relative: relativeDifference(arm, control, multiplier),
    pValue: Math.min(1, sequenceP, plannedP),
  };
}
