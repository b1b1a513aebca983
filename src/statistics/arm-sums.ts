import { centsSquaredPerUsdSquared, microsPerUsd } from '../domain/money.ts';
import type { RatioSums } from './delta-method.ts';

/**
 * Sums over the mature units of one arm. A unit is a session or a visitor. All sums are integers, so that sums of days add up without
 * rounding. Squares may exceed `Number.MAX_SAFE_INTEGER`; they are then rounded to the nearest of about 9e15 steps, which changes no
 * reported digit.
 */
export interface ArmSums {
  readonly sessions: number;
  /** Number of units; equal to `sessions` if the unit is a session. */
  readonly units: number;
  /** Number of units with revenue above 0. */
  readonly unitsWithRevenue: number;
  readonly revenueMicros: number;
  /** Sum of the squared revenue of each unit, in square cents. */
  readonly revenueCentsSquared: number;
  /** Sum of revenue times number of sessions of each unit; equal to `revenueMicros` if the unit is a session. */
  readonly revenueMicrosTimesSessions: number;
  /** Sum of the squared number of sessions of each unit; equal to `sessions` if the unit is a session. */
  readonly sessionsSquared: number;
}

export const noUnits: ArmSums = {
  sessions: 0,
  units: 0,
  unitsWithRevenue: 0,
  revenueMicros: 0,
  revenueCentsSquared: 0,
  revenueMicrosTimesSessions: 0,
  sessionsSquared: 0,
};

/** Returns the sums of an arm whose unit is a session. */
export function sumsOfSessions(
  sums: Pick<ArmSums, 'sessions' | 'unitsWithRevenue' | 'revenueMicros' | 'revenueCentsSquared'>,
): ArmSums {
  const { sessions, revenueMicros } = sums;
  return { ...sums, units: sessions, revenueMicrosTimesSessions: revenueMicros, sessionsSquared: sessions };
}

/** Adds the sums of two disjoint groups of units, or a change of sums, such as that of one day. */
export function addSums(a: ArmSums, b: ArmSums): ArmSums {
  return {
    sessions: a.sessions + b.sessions,
    units: a.units + b.units,
    unitsWithRevenue: a.unitsWithRevenue + b.unitsWithRevenue,
    revenueMicros: a.revenueMicros + b.revenueMicros,
    revenueCentsSquared: a.revenueCentsSquared + b.revenueCentsSquared,
    revenueMicrosTimesSessions: a.revenueMicrosTimesSessions + b.revenueMicrosTimesSessions,
    sessionsSquared: a.sessionsSquared + b.sessionsSquared,
  };
}

/** Returns the sums in USD of revenue per session, as a ratio over units. */
export function revenuePerSession(sums: ArmSums): RatioSums {
  return {
    units: sums.units,
    numerator: sums.revenueMicros / microsPerUsd,
    denominator: sums.sessions,
    numeratorSquared: sums.revenueCentsSquared / centsSquaredPerUsdSquared,
    product: sums.revenueMicrosTimesSessions / microsPerUsd,
    denominatorSquared: sums.sessionsSquared,
  };
}
