import { bounds } from '../bounds.ts';
import { mixtureTime, sequenceMultiplier, tuneSequence } from './confidence-sequence.ts';
import { type RatioSums, varianceOfRatio } from './delta-method.ts';
import type { IntervalEstimate } from './fieller.ts';

/** Error probability of the interval of one guardrail. */
const alpha = 0.01;
const tuning = tuneSequence(alpha);

export interface GuardrailSums extends RatioSums {
  /** Number of units with at least one event that the numerator counts, such as a click. */
  readonly unitsWithEvents: number;
}

export interface Guardrail {
  readonly control: number;
  readonly value: number;
  readonly difference: IntervalEstimate;
  /** If the interval is on the harmful side of 0. A guardrail never shows that an arm is better. */
  readonly isWorse: boolean;
}

/**
 * Compares a ratio, such as clicks per session, of an arm and the control, with the interval of a confidence sequence.
 *
 * Harm often shows in events that the control hardly has, such as errors. For the variance and for the amount of information, both
 * arms therefore have at least the events that their units would have if the arms were equal. Returns null if that is fewer than
 * `bounds.unitsWithRevenueMin` units with events, or without units.
 */
export function compareGuardrail(
  arm: GuardrailSums,
  control: GuardrailSums,
  harm: 'if higher' | 'if lower',
): Guardrail | null {
  if (arm.denominator <= 0 || control.denominator <= 0) return null;
  const eventsPerUnit = (arm.unitsWithEvents + control.unitsWithEvents) / (arm.units + control.units);
  const time = mixtureTime(tuning, eventsPerUnit * arm.units, eventsPerUnit * control.units);
  const standardError = Math.sqrt(pooledVariance(arm, control) + pooledVariance(control, arm));
  if (time < mixtureTime(tuning, bounds.unitsWithRevenueMin, bounds.unitsWithRevenueMin) || standardError === 0)
    return null;
  const [armRatio, controlRatio] = [arm.numerator / arm.denominator, control.numerator / control.denominator];
  const value = armRatio - controlRatio;
  const halfWidth = sequenceMultiplier(time, alpha) * standardError;
  const difference = { value, low: value - halfWidth, high: value + halfWidth };
  return {
    control: controlRatio,
    value: armRatio,
    difference,
    isWorse: harm === 'if higher' ? difference.low > 0 : difference.high < 0,
  };
}

/** Returns the variance of the ratio of `own`; at least as high as if a unit of `own` varied like a unit of both arms together. */
function pooledVariance(own: RatioSums, other: RatioSums): number {
  const both = {
    units: own.units + other.units,
    numerator: own.numerator + other.numerator,
    denominator: own.denominator + other.denominator,
    numeratorSquared: own.numeratorSquared + other.numeratorSquared,
    product: own.product + other.product,
    denominatorSquared: own.denominatorSquared + other.denominatorSquared,
  };
  return Math.max(varianceOfRatio(own), (varianceOfRatio(both) * both.units) / own.units);
}
