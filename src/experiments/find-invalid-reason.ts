import { bounds } from '../bounds.ts';
import type { InvalidReason } from './experiment-findings.ts';

export interface ValidityInput {
  /** Maximum of `splitLogMartingale` over all closed days. */
  readonly splitLogMartingaleMax: number;
  readonly arms: readonly {
    readonly name: string;
    readonly units: number;
    /** Number of these units that also had sessions in other arms. */
    readonly unitsInSeveralArms: number;
  }[];
  /** Sessions of the experiment's tags and dates, with and without `unit_id`. */
  readonly sessions: number;
  readonly sessionsWithoutUnit: number;
}

/** Returns why the figures of an experiment must not be used, or null if they may be used. */
export function findInvalidReason(input: ValidityInput): InvalidReason | null {
  const { splitLogMartingaleMax, arms, sessions, sessionsWithoutUnit } = input;
  if (splitLogMartingaleMax >= Math.log(bounds.splitMartingaleMax)) return { kind: 'split' };
  const mixed = arms.find((arm) => shareInSeveralArms(arm) > bounds.visitorsInSeveralArmsShareMax);
  if (mixed !== undefined) return { kind: 'several arms', arm: mixed.name, share: shareInSeveralArms(mixed) };
  const withoutUnit = sessionsWithoutUnit < bounds.visitorFaultsMin ? 0 : sessionsWithoutUnit / sessions;
  return withoutUnit > bounds.sessionsWithoutUnitShareMax ? { kind: 'no unit', share: withoutUnit } : null;
}

/** Returns the part of the units of an arm that also had sessions in other arms; 0 if they are too few to matter. */
export function shareInSeveralArms(arm: { readonly units: number; readonly unitsInSeveralArms: number }): number {
  return arm.unitsInSeveralArms < bounds.visitorFaultsMin ? 0 : arm.unitsInSeveralArms / arm.units;
}
