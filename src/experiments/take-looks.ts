import { bounds } from '../bounds.ts';
import { formatIsoDate } from '../domain/calendar.ts';
import { addSums, noUnits } from '../statistics/arm-sums.ts';
import { splitLogMartingale } from '../statistics/split-check.ts';
import { type ExperimentDefinition, matureDayOf, plannedDayOf } from './experiment.ts';
import type { ArmDay, ExperimentFigures } from './experiment-figures.ts';
import {
  type ArmAtLook,
  addLook,
  createExperimentLooks,
  createLookPlan,
  type ExperimentLooks,
  type LookPlan,
} from './experiment-looks.ts';
import type { SeriesLook } from './experiment-results.ts';

/** State of an experiment after the looks of all closed days. Arms are in the order of the comparisons: the control first. */
export interface LooksTaken {
  readonly plan: LookPlan;
  readonly looks: ExperimentLooks;
  readonly arms: readonly ArmAtLook[];
  readonly series: readonly SeriesLook[];
}

/** Returns the indices of the arms in the order of the comparisons: the control, then the others as defined. */
export function orderArms({ arms, control }: ExperimentDefinition): number[] {
  const isControl = ({ referrerTag }: (typeof arms)[number]) => referrerTag === control;
  const indices = [...arms.keys()];
  return [
    ...indices.filter((index) => isControl(arms[index]!)),
    ...indices.filter((index) => !isControl(arms[index]!)),
  ];
}

/** Takes a look at the close of each day, up to `asOf` or the planned day. While sessions are still being counted, takes no look. */
export function takeLooks(
  definition: ExperimentDefinition,
  { asOf, days, fillProgress }: Pick<ExperimentFigures, 'asOf' | 'days' | 'fillProgress'>,
): LooksTaken {
  const order = orderArms(definition);
  const plan = createLookPlan(order.length, plannedDayOf(definition));
  const tags = order.map((index) => definition.arms[index]!.referrerTag);
  const places = order.map((_, index) => order.indexOf(index));
  const arms = Array<ArmAtLook>(order.length).fill({ sums: noUnits, matureDays: 0 });
  const series: SeriesLook[] = [];
  let looks = createExperimentLooks(order.length);
  const lastDay = fillProgress === null ? Math.min(asOf, plan.plannedDay ?? asOf) : Number.NEGATIVE_INFINITY;
  let next = 0;
  for (let day = matureDayOf(definition, definition.startsOn); day <= lastDay; day++) {
    for (; next < days.length && matureDayOf(definition, days[next]!.day) <= day; next++) {
      const place = places[days[next]!.arm]!;
      arms[place] = addDay(arms[place]!, days[next]!);
    }
    looks = addLook(looks, plan, day, arms);
    if (day > lastDay - bounds.experimentSeriesLooksMax) series.push(...toSeriesLooks(looks, day, arms, tags));
  }
  return { plan, looks, arms, series };
}

function addDay({ sums, matureDays }: ArmAtLook, day: ArmDay): ArmAtLook {
  return { sums: addSums(sums, day.sums), matureDays: matureDays + (day.sums.sessions > 0 ? 1 : 0) };
}

function toSeriesLooks(
  { comparisons }: ExperimentLooks,
  day: number,
  arms: readonly ArmAtLook[],
  tags: readonly string[],
): SeriesLook[] {
  return comparisons.map(({ look, pValue }, index) => ({
    arm: tags[index + 1]!,
    as_of: formatIsoDate(day),
    difference: look?.difference.value ?? null,
    low: look?.difference.low ?? null,
    high: look?.difference.high ?? null,
    p_value: pValue,
    units_with_revenue: arms[index + 1]!.sums.unitsWithRevenue,
  }));
}

/** Returns the maximum of the split's test martingale over all closed days, as a logarithm. All units count, mature or not. */
export function maxSplitLogMartingale({ arms }: ExperimentDefinition, days: readonly ArmDay[]): number {
  const counts = arms.map(({ weight }) => ({ weight, units: 0 }));
  // Without units, the martingale is 1.
  let max = 0;
  for (const [index, { arm, day, sums }] of days.entries()) {
    counts[arm]!.units += sums.units;
    if (days[index + 1]?.day !== day) max = Math.max(max, splitLogMartingale(counts));
  }
  return max;
}
