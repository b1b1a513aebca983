import { microsToUsd } from '../domain/money.ts';
import type { ExperimentDefinition } from './experiment.ts';
import type { ArmDay, RevenueAge } from './experiment-figures.ts';
import type { ArmResults } from './experiment-results.ts';

const daysPerWeek = 7;

/**
 * Returns how the revenue per session of an arm grows with the age of its sessions. The revenue of each week of age is divided by the number of
 * sessions that have completed this week, so that recent sessions, which lack later revenue, do not lower the figures.
 */
export function sumRevenueByAge(
  { revenueDays, graceDays }: ExperimentDefinition,
  asOf: number,
  days: readonly ArmDay[],
  ages: readonly RevenueAge[],
): NonNullable<ArmResults['revenue_by_age']> {
  /** Age in days after which no revenue counts. */
  const finalAgeDays = revenueDays + graceDays;
  const finalAgeWeeks = Math.floor(finalAgeDays / daysPerWeek) + 1;
  const completedWeeks = (day: number) =>
    asOf - day >= finalAgeDays ? finalAgeWeeks : Math.floor((asOf - day + 1) / daysPerWeek);
  const weeks = Array.from({ length: finalAgeWeeks }, () => ({ sessions: 0, revenueMicros: 0 }));
  for (const { day, sums } of days) {
    for (const week of weeks.slice(0, completedWeeks(day))) week.sessions += sums.sessions;
  }
  for (const { day, ageWeeks, revenueMicros } of ages) {
    if (ageWeeks < completedWeeks(day)) weeks[ageWeeks]!.revenueMicros += revenueMicros;
  }
  let revenuePerSession = 0;
  return weeks
    .filter(({ sessions }) => sessions > 0)
    .map(({ sessions, revenueMicros }, index) => {
      revenuePerSession += microsToUsd(revenueMicros) / sessions;
      return { weeks: index + 1, sessions, revenue_per_session: revenuePerSession };
    });
}
