import { bounds } from '../bounds.ts';
import { centsSquaredPerUsdSquared, microsPerUsd } from '../domain/money.ts';
import { normalQuantile95 } from './distributions.ts';
import type { IntervalEstimate } from './fieller.ts';

/** Sessions of one arm that were created in the same seven days. */
export interface WeeklyCohort {
  readonly sessions: number;
  /** Revenue by age in weeks, from age 0 to the highest age that the whole cohort has completed. */
  readonly revenueMicrosByAge: readonly number[];
}

export interface EarlyReadInput {
  readonly cohorts: readonly WeeklyCohort[];
  /** Number of weeks after which the revenue of a session is final. */
  readonly finalAgeWeeks: number;
  /** Number of units of these cohorts with revenue so far. */
  readonly unitsWithRevenue: number;
  /** Sum of the squared revenue so far of each unit of these cohorts, in square cents. */
  readonly revenueCentsSquared: number;
}

/**
 * Predicts the final revenue per session of the sessions so far, in USD, with a 95 % prediction interval. Revenue that is still missing is
 * estimated by age, with the additive method for insurance claims (Mack, "Schadenversicherungsmathematik", 1997, section 3.2.3). The
 * variance is that of a compound Poisson process: the mean square of a payout over its mean, for each dollar.
 *
 * The interval is for one look, and ignores that the confirmations of the next weeks may differ from those of the last. Therefore the
 * result is preliminary. Returns null with fewer than `bounds.earlyReadUnitsMin` units with revenue, if no cohort has completed all
 * ages, without revenue, if reversals at some age outweigh the predicted revenue, or if no revenue is missing: then an interval would have
 * no width, and look certain.
 */
export function readEarly({
  cohorts,
  finalAgeWeeks,
  unitsWithRevenue,
  revenueCentsSquared,
}: EarlyReadInput): IntervalEstimate | null {
  if (unitsWithRevenue < bounds.earlyReadUnitsMin) return null;
  const allSessions = cohorts.reduce((sum, { sessions }) => sum + sessions, 0);
  if (cohorts.every(({ revenueMicrosByAge }) => revenueMicrosByAge.length >= finalAgeWeeks)) return null;
  let [seenMicros, missingMicros, relativeVariance] = [0, 0, 0];
  for (let age = 0; age < finalAgeWeeks; age++) {
    const reached = cohorts.filter(({ revenueMicrosByAge }) => revenueMicrosByAge.length > age);
    const seen = reached.reduce((sum, { sessions }) => sum + sessions, 0);
    if (seen === 0) return null;
    const ageMicros = reached.reduce((sum, { revenueMicrosByAge }) => sum + revenueMicrosByAge[age]!, 0);
    const unseen = allSessions - seen;
    const rate = ageMicros / seen;
    seenMicros += ageMicros;
    missingMicros += rate * unseen;
    // More reversals than confirmations at some age make the rate negative, but not the variance.
    relativeVariance += Math.abs(rate) * unseen * (1 + unseen / seen);
  }
  if (seenMicros <= 0 || seenMicros + missingMicros < 0) return null;
  const usdPerUnit = revenueCentsSquared / centsSquaredPerUsdSquared / (seenMicros / microsPerUsd);
  const standardError = Math.sqrt((relativeVariance / microsPerUsd) * usdPerUnit) / allSessions;
  const value = (seenMicros + missingMicros) / microsPerUsd / allSessions;
  return {
    value,
    low: Math.max(0, value - normalQuantile95 * standardError),
    high: value + normalQuantile95 * standardError,
  };
}
