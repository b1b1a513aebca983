import { bounds } from '../bounds.ts';
import { squareCents } from '../domain/money.ts';
import { type ArmSums, addSums, noUnits } from './arm-sums.ts';

/** A unit with revenue above 0. */
export interface UnitRevenue {
  readonly revenueMicros: number;
  readonly sessions: number;
}

export interface ArmRevenues {
  readonly sums: ArmSums;
  /** All units of `sums` with revenue above 0, or only the largest: of all arms together, at least as many as `countLargestUnits` returns. */
  readonly unitsWithRevenue: readonly UnitRevenue[];
}

export interface CappedRevenue {
  readonly capMicros: number;
  /** Part of the revenue of all arms above the cap. */
  readonly shareCut: number;
  /** Sums of each arm in which each revenue above the cap counts as the cap. */
  readonly arms: readonly ArmSums[];
}

/** Part of the units with revenue that the cap leaves unchanged. */
const uncappedShare = 0.99;

/** Returns how many units with the largest revenue `capRevenue` needs, of this number of units with revenue of all arms. */
export function countLargestUnits(unitsWithRevenue: number): number {
  return unitsWithRevenue - Math.ceil(unitsWithRevenue * uncappedShare) + 1;
}

/**
 * Caps the revenue of each unit at the 99th percentile of the revenue above 0 of all arms together (the smallest revenue that at least 99 %
 * of these units do not exceed), to show whether a difference depends on a few large payouts. Capping at a percentile is winsorizing
 * (Tukey, "The Future of Data Analysis", Annals of Mathematical Statistics 33, 1962). Returns null with fewer than
 * `bounds.cappedUnitsMin` units with revenue.
 */
export function capRevenue(arms: readonly ArmRevenues[]): CappedRevenue | null {
  const revenues = arms.flatMap(({ unitsWithRevenue }) => unitsWithRevenue.map(({ revenueMicros }) => revenueMicros));
  const count = arms.reduce((sum, { sums }) => sum + sums.unitsWithRevenue, 0);
  if (count < bounds.cappedUnitsMin) return null;
  const sorted = Float64Array.from(revenues).sort();
  const capMicros = sorted[sorted.length - countLargestUnits(count)]!;
  const capped = arms.map(({ sums, unitsWithRevenue }) =>
    unitsWithRevenue.reduce<ArmSums>((total, unit) => addSums(total, changeByCap(unit, capMicros)), sums),
  );
  const revenueMicros = sumRevenue(arms.map(({ sums }) => sums));
  return {
    capMicros,
    shareCut: revenueMicros > 0 ? 1 - sumRevenue(capped) / revenueMicros : 0,
    arms: capped,
  };
}

/** Returns how the sums of an arm change if the revenue of a unit is capped. */
function changeByCap({ revenueMicros, sessions }: UnitRevenue, capMicros: number): ArmSums {
  if (revenueMicros <= capMicros) return noUnits;
  return {
    ...noUnits,
    revenueMicros: capMicros - revenueMicros,
    revenueCentsSquared: squareCents(capMicros) - squareCents(revenueMicros),
    revenueMicrosTimesSessions: (capMicros - revenueMicros) * sessions,
  };
}

function sumRevenue(arms: readonly ArmSums[]): number {
  return arms.reduce((sum, { revenueMicros }) => sum + revenueMicros, 0);
}

/** Returns the share of the largest payout in the revenue of an arm, from 0 to 1; null without revenue. */
export function largestPayoutShare(largestPayoutMicros: number, revenueMicros: number): number | null {
  return revenueMicros > 0 ? Math.min(1, largestPayoutMicros / revenueMicros) : null;
}
