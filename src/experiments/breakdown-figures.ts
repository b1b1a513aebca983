import type { ArmSums } from '../statistics/arm-sums.ts';

/**
 * Kind of a group: `value` for a device class or a value of a dimension, `none` for the sessions without the metadata key, and `other` for
 * all remaining sessions.
 */
export type GroupKind = (typeof groupKinds)[number];
export const groupKinds = ['value', 'none', 'other'] as const;

/** Figures of one group, up to the closed day of the results. */
export interface GroupFigures {
  readonly kind: GroupKind;
  /** Device class, or value of the dimension as text; null unless `kind` is `value`. */
  readonly value: string | null;
  /** In the order of the arms of the definition. */
  readonly arms: readonly GroupArmFigures[];
}

export interface GroupArmFigures {
  readonly sessions: number;
  readonly units: number;
  readonly views: number;
  readonly clicks: number;
  readonly attributedMicros: number;
  readonly confirmedMicros: number;
  /** Sums over the sessions of mature days. */
  readonly mature: ArmSums;
}
