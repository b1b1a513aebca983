import { microsPerUsd } from '../domain/money.ts';
import { addFigures, frozenRevenue, noSessions, type SessionFigures } from './session-figures.ts';

/** Sums over units whose changes by one batch fit into a safe integer. See `ArmDay` for their meaning. */
export const unitSumNames = [
  'sessions',
  'units',
  'unitsWithRevenue',
  'revenueMicros',
  'sessionsSquared',
  'views',
  'attributedMicros',
  'confirmedMicros',
  'afterConfirmedMicros',
  'afterReversedMicros',
  'clicks',
  'clicksSquared',
  'clicksTimesSessions',
  'unitsWithClicks',
  'inputs',
  'inputsSquared',
  'inputsTimesSessions',
  'unitsWithInputs',
  'errors',
  'errorsSquared',
  'errorsTimesSessions',
  'unitsWithErrors',
  'reversals',
  'reversalsSquared',
  'reversalsTimesPayouts',
  'unitsWithReversals',
  'payouts',
  'payoutsSquared',
  'unitsInSeveralArms',
  'assignmentMismatches',
] as const;

/** Sums over units that may exceed `Number.MAX_SAFE_INTEGER`. */
export const largeUnitSumNames = ['revenueCentsSquared', 'revenueMicrosTimesSessions'] as const;

/** Names of the sums that results by device or dimension need. */
export const groupSumNames = [
  'sessions',
  'units',
  'unitsWithRevenue',
  'revenueMicros',
  'sessionsSquared',
  'views',
  'attributedMicros',
  'confirmedMicros',
  'clicks',
] as const;

export type GroupSums = Pick<UnitSums, (typeof groupSumNames)[number] | (typeof largeUnitSumNames)[number]>;

export type UnitSums = Record<(typeof unitSumNames)[number], number> &
  Record<(typeof largeUnitSumNames)[number], bigint>;

/** Figures of the sessions of one unit and cohort day. */
export interface UnitDay {
  readonly day: number;
  /** Arms of the referrer tags of these sessions, as a bit mask. */
  arms: number;
  readonly figures: SessionFigures;
}

/**
 * Returns how the sums of an arm change by the sessions of a unit on each of its days, which must be in ascending order: the sums with the
 * sessions up to that day minus the sums with those before. Sums over days are therefore sums over units with the sessions up to a day.
 */
export function unitContributions(days: readonly UnitDay[]): readonly UnitSums[] {
  const total = { ...noSessions };
  let before: UnitSums | null = null;
  return days.map(({ figures }, index) => {
    addFigures(total, figures, 1);
    const sums = sumsOfUnit(total);
    const change = before === null ? { ...sums } : subtractSums(sums, before);
    if (index === 0 && isInSeveralArms(days)) change.unitsInSeveralArms = 1;
    before = sums;
    return change;
  });
}

/** Returns the sums over one unit. */
function sumsOfUnit(figures: SessionFigures): UnitSums {
  const { sessions, views, clicks, viewedSessions, widgetErrors, payouts, reversedPayouts } = figures;
  const revenueMicros = frozenRevenue(figures);
  const cents = revenueMicros === 0 ? 0n : BigInt(Math.round(revenueMicros / (microsPerUsd / 100)));
  return {
    sessions,
    units: 1,
    unitsWithRevenue: revenueMicros > 0 ? 1 : 0,
    revenueMicros,
    sessionsSquared: sessions * sessions,
    views,
    attributedMicros: figures.attributedMicros,
    confirmedMicros: figures.confirmedMicros,
    afterConfirmedMicros: figures.afterConfirmedMicros,
    afterReversedMicros: figures.afterReversedMicros,
    clicks,
    clicksSquared: clicks * clicks,
    clicksTimesSessions: clicks * sessions,
    unitsWithClicks: clicks > 0 ? 1 : 0,
    inputs: viewedSessions,
    inputsSquared: viewedSessions * viewedSessions,
    inputsTimesSessions: viewedSessions * sessions,
    unitsWithInputs: viewedSessions > 0 ? 1 : 0,
    errors: widgetErrors,
    errorsSquared: widgetErrors * widgetErrors,
    errorsTimesSessions: widgetErrors * sessions,
    unitsWithErrors: widgetErrors > 0 ? 1 : 0,
    reversals: reversedPayouts,
    reversalsSquared: reversedPayouts * reversedPayouts,
    reversalsTimesPayouts: reversedPayouts * payouts,
    unitsWithReversals: reversedPayouts > 0 ? 1 : 0,
    payouts,
    payoutsSquared: payouts * payouts,
    unitsInSeveralArms: 0,
    assignmentMismatches: figures.misassignedSessions,
    revenueCentsSquared: cents * cents,
    revenueMicrosTimesSessions: revenueMicros === 0 ? 0n : BigInt(revenueMicros) * BigInt(sessions),
  };
}

function isInSeveralArms(days: readonly UnitDay[]): boolean {
  const arms = days.reduce((mask, day) => mask | day.arms, 0);
  return (arms & (arms - 1)) !== 0;
}

/** Adds `sign` times the sums `change` to `sums`. */
export function addUnitSums(sums: UnitSums, change: UnitSums, sign: 1 | -1): void {
  for (const name of unitSumNames) sums[name] += sign * change[name];
  addLargeSums(sums, change, sign);
}

/** Adds `sign` times the sums `change` to `sums`. */
export function addGroupSums(sums: GroupSums, change: GroupSums, sign: 1 | -1): void {
  for (const name of groupSumNames) sums[name] += sign * change[name];
  addLargeSums(sums, change, sign);
}

type LargeSums = Pick<UnitSums, (typeof largeUnitSumNames)[number]>;

function addLargeSums(sums: LargeSums, change: LargeSums, sign: 1 | -1): void {
  for (const name of largeUnitSumNames) {
    // Most units have no revenue, and arithmetic with large integers is slow.
    if (change[name] !== 0n) sums[name] += sign === 1 ? change[name] : -change[name];
  }
}

function subtractSums(sums: UnitSums, subtrahend: UnitSums): UnitSums {
  const difference = { ...sums };
  addUnitSums(difference, subtrahend, -1);
  return difference;
}

export const noUnitSums: UnitSums = subtractSums(sumsOfUnit(noSessions), sumsOfUnit(noSessions));

export const noGroupSums: GroupSums = {
  sessions: 0,
  units: 0,
  unitsWithRevenue: 0,
  revenueMicros: 0,
  sessionsSquared: 0,
  views: 0,
  attributedMicros: 0,
  confirmedMicros: 0,
  clicks: 0,
  revenueCentsSquared: 0n,
  revenueMicrosTimesSessions: 0n,
};
