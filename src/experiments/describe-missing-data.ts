import { bounds } from '../bounds.ts';
import { rateSequence } from '../statistics/beta-binomial-sequence.ts';
import type { ArmFindings, ExperimentFindings } from './experiment-findings.ts';
import { formatCountOf, formatDay, formatPercent } from './wording.ts';

/** Probability that the sentence about confirmation rates is wrong at any look. */
const errorProbability = 0.05;

/** Describes the data that an experiment lacks for its first comparison, as one or two sentences without a final period. */
export function describeMissingData(findings: ExperimentFindings): string {
  const { unit, asOf, arms, firstMatureDay, looks, isLast, fillProgress } = findings;
  if (fillProgress !== null)
    return `the earlier sessions are still being counted: ${formatPercent(fillProgress, 'down')}`;
  if (arms.every(({ matureUnits }) => matureUnits === 0)) {
    if (firstMatureDay === null) return `the results up to ${formatDay(asOf)} count no sessions`;
    return `no session is mature yet. The first sessions are mature on ${formatDay(firstMatureDay)}`;
  }
  const units = unit === 'session' ? 'confirmed sessions' : 'visitors with confirmed revenue';
  const fewest = arms.reduce((least, arm) => (arm.unitsWithRevenue < least.unitsWithRevenue ? arm : least));
  if (fewest.unitsWithRevenue >= bounds.unitsWithRevenueMin) {
    const shortest = arms.reduce((least, arm) => (arm.matureDays < least.matureDays ? arm : least));
    return `${shortest.name} has ${shortest.matureDays} of the ${bounds.matureDaysMin} days with mature sessions that it needs`;
  }
  const count = fewest.unitsWithRevenue === 0 ? 'none' : String(fewest.unitsWithRevenue);
  const estimate = looks.isPlanOver || isLast ? '' : describeDaysLeft(fewest);
  return (
    `${fewest.name} has ${count} of the ${bounds.unitsWithRevenueMin} ${units} it needs${estimate}` +
    describeUnequalRates(arms, unit)
  );
}

function describeDaysLeft({ unitsWithRevenue, matureDays }: ArmFindings): string {
  if (unitsWithRevenue === 0 || matureDays === 0) return '';
  const days = Math.ceil(((bounds.unitsWithRevenueMin - unitsWithRevenue) * matureDays) / unitsWithRevenue);
  const daysLeft = Math.max(days, bounds.matureDaysMin - matureDays);
  return `, about ${formatCountOf(daysLeft, 'day')} at the present rate`;
}

/** Points to an arm whose confirmation rate is certainly lower than that of another, because its page may not work. */
function describeUnequalRates(arms: readonly ArmFindings[], unit: ExperimentFindings['unit']): string {
  const rates = arms.map(({ name, unitsWithRevenue, matureUnits }) => ({
    name,
    ...rateSequence(unitsWithRevenue, matureUnits, errorProbability / arms.length),
  }));
  const lowest = rates.reduce((least, rate) => (rate.high < least.high ? rate : least));
  const highest = rates.reduce((most, rate) => (rate.low > most.low ? rate : most));
  if (lowest.high >= highest.low) return '';
  return (
    `. At most ${formatPercent(lowest.high, 'up')} of the ${unit}s of ${lowest.name} have confirmed revenue, and at least ` +
    `${formatPercent(highest.low, 'down')} of those of ${highest.name}: check that the page of ${lowest.name} works`
  );
}
