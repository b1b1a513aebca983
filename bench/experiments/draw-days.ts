import { type ArmSums, noUnits } from '../../src/statistics/arm-sums.ts';
import { drawStandardNormal, drawSuccesses, type Random } from '../population/random.ts';

/** Units of one arm. A unit has no revenue or one payout. */
export interface ArmModel {
  readonly unitsPerDay: number;
  /** Part of the units with a payout. */
  readonly payoutRate: number;
  readonly meanPayoutUsd: number;
  /** Standard deviation of the logarithm of a payout; 0 if all payouts are equal. */
  readonly sigma: number;
  /** Factor of the payout rate on each day of the week, with a mean of 1; 1 if missing. */
  readonly weekdayFactors?: readonly number[];
}

/** Rules for the units and payouts of all arms. */
export interface WorldModel {
  /** Numbers of sessions of a visitor, with their probabilities. Missing if each unit is one session. */
  readonly sessionsPerUnit?: readonly (readonly [sessions: number, probability: number])[];
  /** Draws whether a payout of a session of this day is part of the revenue when the session is mature; always if missing. */
  readonly isCounted?: (random: Random, cohortDay: number) => boolean;
}

const singleSessions = [[1, 1]] as const;

/** Draws the mature sums of the units that one arm gets on one day, and adds them to the sums of the earlier days. */
export function drawDay(
  random: Random,
  arm: ArmModel,
  world: WorldModel,
  day: number,
  before: ArmSums = noUnits,
): ArmSums {
  const payoutRate = arm.payoutRate * (arm.weekdayFactors?.[day % 7] ?? 1);
  const payoutMicros = arm.meanPayoutUsd * 1e6;
  const logShift = arm.sigma ** 2 / 2;
  const sums = { ...before };
  let unitsLeft = arm.unitsPerDay;
  let probabilityLeft = 1;
  for (const [sessions, probability] of world.sessionsPerUnit ?? singleSessions) {
    const isLast = probability >= probabilityLeft - 1e-9;
    const units = isLast ? unitsLeft : drawSuccesses(random, unitsLeft, probability / probabilityLeft);
    unitsLeft -= units;
    probabilityLeft -= probability;
    sums.units += units;
    sums.sessions += units * sessions;
    sums.sessionsSquared += units * sessions ** 2;
    for (let payouts = drawSuccesses(random, units, payoutRate); payouts > 0; payouts--) {
      if (world.isCounted !== undefined && !world.isCounted(random, day)) continue;
      const factor = arm.sigma === 0 ? 1 : Math.exp(arm.sigma * drawStandardNormal(random) - logShift);
      const revenueMicros = Math.round(payoutMicros * factor);
      sums.unitsWithRevenue++;
      sums.revenueMicros += revenueMicros;
      sums.revenueCentsSquared += Math.round(revenueMicros / 10_000) ** 2;
      sums.revenueMicrosTimesSessions += revenueMicros * sessions;
    }
  }
  return sums;
}

/** Returns the true revenue per session of an arm in USD, if `countedShare` of the payouts are counted. */
export function trueMeanUsd(arm: ArmModel, world: WorldModel, countedShare: number): number {
  const sessionsPerUnit = (world.sessionsPerUnit ?? singleSessions).reduce(
    (sum, [sessions, p]) => sum + sessions * p,
    0,
  );
  return (arm.payoutRate * arm.meanPayoutUsd * countedShare) / sessionsPerUnit;
}

/** Estimates the part of the payouts that is counted, from a million payouts spread over the days of the week. */
export function estimateCountedShare({ isCounted }: WorldModel, random: Random): number {
  if (isCounted === undefined) return 1;
  const draws = 1_000_000;
  let counted = 0;
  for (let draw = 0; draw < draws; draw++) if (isCounted(random, draw % 7)) counted++;
  return counted / draws;
}
