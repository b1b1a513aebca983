import { bounds } from '../bounds.ts';
import { type EarlyReadInput, readEarly } from '../statistics/early-read.ts';
import type { IntervalEstimate } from '../statistics/fieller.ts';
import type { ExperimentDefinition } from './experiment.ts';
import type { ArmDay, RevenueAge } from './experiment-figures.ts';

const daysPerWeek = 7;

/**
 * Predicts the final revenue per session of the arm with these figures (see `readEarly`). The cohorts are the whole weeks of sessions from
 * `startsOn`. Returns null where clicks confirm their own revenue, because that revenue is not late.
 */
export function predictRevenue(
  definition: ExperimentDefinition,
  asOf: number,
  days: readonly ArmDay[],
  ages: readonly RevenueAge[],
): IntervalEstimate | null {
  const { startsOn, endsOn, revenueDays, graceDays } = definition;
  if (revenueDays < bounds.maturedDays) return null;
  /** Age in days after which no revenue counts. */
  const finalAgeDays = revenueDays + graceDays;
  const finalAgeWeeks = Math.floor(finalAgeDays / daysPerWeek) + 1;
  const weekOf = (day: number) => Math.floor((day - startsOn) / daysPerWeek);
  const weeks = Math.max(0, weekOf(Math.min(asOf, endsOn ?? asOf) + 1));
  const cohorts = Array.from({ length: weeks }, (_, week) => {
    const youngestDays = asOf - (startsOn + (week + 1) * daysPerWeek - 1);
    const completedWeeks = youngestDays >= finalAgeDays ? finalAgeWeeks : Math.floor((youngestDays + 1) / daysPerWeek);
    return { sessions: 0, revenueMicrosByAge: Array<number>(completedWeeks).fill(0) };
  });
  const input = { cohorts, finalAgeWeeks, unitsWithRevenue: 0, revenueCentsSquared: 0 } satisfies EarlyReadInput;
  for (const { day, sums } of days) {
    const cohort = cohorts[weekOf(day)];
    if (cohort === undefined) continue;
    cohort.sessions += sums.sessions;
    input.unitsWithRevenue += sums.unitsWithRevenue;
    input.revenueCentsSquared += sums.revenueCentsSquared;
  }
  for (const { day, ageWeeks, revenueMicros } of ages) {
    const byAge = cohorts[weekOf(day)]?.revenueMicrosByAge;
    if (byAge !== undefined && ageWeeks < byAge.length) byAge[ageWeeks]! += revenueMicros;
  }
  return readEarly(input);
}
