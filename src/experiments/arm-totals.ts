import { addSums, noUnits } from '../statistics/arm-sums.ts';
import type { ArmDay, EventSums } from './experiment-figures.ts';

/** Figures of one arm over several days. */
export type ArmTotals = Omit<ArmDay, 'arm' | 'day'>;

/** Adds the figures of days of one arm. */
export function sumArmDays(days: readonly ArmDay[]): ArmTotals {
  const sum = (figure: (day: ArmDay) => number) => days.reduce((total, day) => total + figure(day), 0);
  const sumEvents = (events: 'clicks' | 'inputs' | 'errors' | 'reversals'): EventSums => ({
    count: sum((day) => day[events].count),
    squared: sum((day) => day[events].squared),
    product: sum((day) => day[events].product),
    unitsWithEvents: sum((day) => day[events].unitsWithEvents),
  });
  return {
    sums: days.reduce((total, day) => addSums(total, day.sums), noUnits),
    views: sum((day) => day.views),
    attributedMicros: sum((day) => day.attributedMicros),
    confirmedMicros: sum((day) => day.confirmedMicros),
    afterConfirmedMicros: sum((day) => day.afterConfirmedMicros),
    afterReversedMicros: sum((day) => day.afterReversedMicros),
    clicks: sumEvents('clicks'),
    inputs: sumEvents('inputs'),
    errors: sumEvents('errors'),
    reversals: sumEvents('reversals'),
    payouts: sum((day) => day.payouts),
    payoutsSquared: sum((day) => day.payoutsSquared),
    unitsInSeveralArms: sum((day) => day.unitsInSeveralArms),
    assignmentMismatches: sum((day) => day.assignmentMismatches),
  };
}
