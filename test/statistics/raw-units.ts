import { type ArmSums, noUnits } from '../../src/statistics/arm-sums.ts';

/** A unit with its revenue in whole micro-dollars. */
export interface RawUnit {
  readonly revenueMicros: number;
  readonly sessions: number;
}

export function sumUnits(units: readonly RawUnit[]): ArmSums {
  return units.reduce<ArmSums>(
    (sums, { revenueMicros, sessions }) => ({
      sessions: sums.sessions + sessions,
      units: sums.units + 1,
      unitsWithRevenue: sums.unitsWithRevenue + (revenueMicros > 0 ? 1 : 0),
      revenueMicros: sums.revenueMicros + revenueMicros,
      revenueCentsSquared: sums.revenueCentsSquared + Math.round(revenueMicros / 10_000) ** 2,
      revenueMicrosTimesSessions: sums.revenueMicrosTimesSessions + revenueMicros * sessions,
      sessionsSquared: sums.sessionsSquared + sessions ** 2,
    }),
    noUnits,
  );
}

/** Units that are sessions, with revenues in USD. */
export function sessionsWith(...revenues: readonly number[]): RawUnit[] {
  return revenues.map((usd) => ({ revenueMicros: usd * 1e6, sessions: 1 }));
}
