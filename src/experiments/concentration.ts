import { type CappedRevenue, capRevenue, countLargestUnits } from '../statistics/capped-revenue.ts';
import { sumArmDays } from './arm-totals.ts';
import { type ExperimentDefinition, lastMatureCohortDay } from './experiment.ts';
import type { ExperimentFigures } from './experiment-figures.ts';

/** How much of the mature revenue a few units have. Arms are in the order of the definition. */
export interface Concentration {
  /** Largest revenue of a unit of each arm, in micro-dollars; 0 without revenue. */
  readonly largestMicros: readonly number[];
  readonly capped: CappedRevenue | null;
}

type UnitFigures = Pick<ExperimentFigures, 'asOf' | 'days' | 'unitsWithRevenue'>;

/** Returns how many of the units with the largest mature revenue `measureConcentration` needs, besides the largest of each arm. */
export function countUnitsToMeasure(
  definition: ExperimentDefinition,
  { asOf, days }: Pick<UnitFigures, 'asOf' | 'days'>,
): number {
  const lastMatureDay = lastMatureCohortDay(definition, asOf);
  return countLargestUnits(sumArmDays(days.filter(({ day }) => day <= lastMatureDay)).sums.unitsWithRevenue);
}

/**
 * Measures the concentration of the mature revenue. The result stays the same for `asOf` unless earlier sessions are still being counted.
 * `unitsWithRevenue` has all units, or at least the largest that `countUnitsToMeasure` requires, and the largest of each arm.
 */
export function measureConcentration(
  definition: ExperimentDefinition,
  { asOf, days, unitsWithRevenue }: UnitFigures,
): Concentration {
  const lastMatureDay = lastMatureCohortDay(definition, asOf);
  const arms = definition.arms.map((_, index) => ({
    sums: sumArmDays(days.filter(({ arm, day }) => arm === index && day <= lastMatureDay)).sums,
    unitsWithRevenue: unitsWithRevenue.filter(({ arm }) => arm === index),
  }));
  return {
    largestMicros: arms.map((arm) =>
      arm.unitsWithRevenue.reduce((most, unit) => Math.max(most, unit.revenueMicros), 0),
    ),
    capped: capRevenue(arms),
  };
}
