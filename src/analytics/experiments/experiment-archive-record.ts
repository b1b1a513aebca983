import { groupSumNames, largeUnitSumNames } from '../../experiments/unit-sums.ts';
import { unitHashByteLength } from '../../ids/unit-hasher.ts';
import { isCount } from '../../ledger/ledger-record.ts';

/**
 * Archive records of experiments. They follow the counters of all referrer tags: an `ArchivedExperiment`, and then its rows of the archived
 * days. See `ExperimentSums` for the figures.
 */
export type ExperimentArchiveRecord =
  | ArchivedExperiment
  | ArchivedExperimentDay
  | ArchivedExperimentAge
  | ArchivedVisitor
  | ArchivedSessionRevenue
  | ArchivedDimensionValue
  | ArchivedGroupDay;

export const experimentArchiveKind = {
  experiment: 16,
  day: 17,
  age: 18,
  visitor: 19,
  sessionRevenue: 20,
  dimensionValue: 22,
  groupDay: 23,
} as const;

/** Names the experiment to which the following records belong, until the next `ArchivedExperiment`. */
export type ArchivedExperiment = readonly [
  kind: 16,
  key: readonly [account: number, vertical: number, test: 0 | 1, name: string],
  definition: readonly [
    /** `ExperimentDefinition` as JSON text. */
    json: string,
    createdMs: number,
    /** Ledger positions of the first and of the last definition, and of the definition by which sessions are counted. */
    position: number,
    definedPosition: number,
    countedPosition: number,
    /** For each dimension of the definition: the position up to which sessions have no value. */
    ...dimensionPositions: readonly number[],
  ],
  /** Present if the ledger record of the closing is going to be deleted: `ExperimentOutcome` as JSON text, and its record. */
  closing?: readonly [outcome: string, closedMs: number, closedBy: number, closedPosition: number] | null,
  /** Position of the ledger record that hides the experiment; present if the record is going to be deleted. */
  deletedPosition?: number | null,
];

/** Sums of an arm and day. An experiment whose units are visitors has no sums, because they follow from its visitors. */
export type ArchivedExperimentDay = readonly [
  kind: 17,
  key: readonly [day: number, arm: number, sessionsWithoutUnit: number],
  /** In the order of `unitSumNames`. Another release may have written fewer or more sums. */
  sums?: readonly number[],
  /** In the order of `largeUnitSumNames`, as decimal strings. */
  largeSums?: readonly string[],
];

export type ArchivedExperimentAge = readonly [
  kind: 18,
  age: readonly [day: number, arm: number, ageWeeks: number, revenueMicros: number],
];

/** The archived days of a visitor, encoded by `encodeUnitDays`. */
export type ArchivedVisitor = readonly [
  kind: 19,
  visitor: readonly [firstDay: number, arm: number, firstPosition: number],
  unit: Uint8Array,
  days: Uint8Array,
  /** Numbers of the groups, as in `ArchivedDimensionValue`. */
  groups?: readonly number[],
];

/** A value of a dimension. `value` is JSON text as in the table `experiment_value`. The value has the number `group` in the same segment. */
export type ArchivedDimensionValue = readonly [
  kind: 22,
  value: readonly [group: number, firstPosition: number],
  dimension: string,
  value: string,
];

/** Sums of a group, arm and day, in an experiment whose units are sessions. */
export type ArchivedGroupDay = readonly [
  kind: 23,
  key: readonly [day: number, arm: number, group: number],
  /** In the order of `groupSumNames`. */
  sums: readonly number[],
  /** In the order of `largeUnitSumNames`, as decimal strings. */
  largeSums: readonly string[],
];

/** Frozen revenue of a session, in an experiment whose units are sessions. */
export type ArchivedSessionRevenue = readonly [
  kind: 20,
  revenue: readonly [day: number, arm: number, sessionPosition: number, revenueMicros: number],
];

const isListOf = (value: unknown, isMember: (value: unknown) => boolean, length: number): boolean =>
  Array.isArray(value) && value.length >= length && value.every(isMember);

const isCountList = (value: unknown, length: number): boolean => isListOf(value, isCount, length);

export function isExperimentArchiveRecord(value: readonly unknown[]): value is ExperimentArchiveRecord {
  const [kind, key] = value;
  switch (kind) {
    case experimentArchiveKind.experiment:
      return isArchivedExperiment(value);
    case experimentArchiveKind.day: {
      const [, , sums, largeSums] = value;
      if (!isCountList(key, 3)) return false;
      return (
        sums === undefined || (isListOf(sums, isSum, 0) && isListOf(largeSums, isDecimal, largeUnitSumNames.length))
      );
    }
    case experimentArchiveKind.age:
      return Array.isArray(key) && isCountList(key.slice(0, 3), 3) && Number.isInteger(key[3]);
    case experimentArchiveKind.visitor: {
      const [, , unit, days, groups] = value;
      const isUnit = unit instanceof Uint8Array && unit.byteLength === unitHashByteLength;
      if (groups !== undefined && !isCountList(groups, 0)) return false;
      return isCountList(key, 3) && isUnit && days instanceof Uint8Array;
    }
    case experimentArchiveKind.dimensionValue:
      return isCountList(key, 2) && typeof value[2] === 'string' && typeof value[3] === 'string';
    case experimentArchiveKind.groupDay: {
      const [, , sums, largeSums] = value;
      const hasSums = isListOf(sums, isSum, groupSumNames.length);
      return isCountList(key, 3) && hasSums && isListOf(largeSums, isDecimal, largeUnitSumNames.length);
    }
    default:
      return kind === experimentArchiveKind.sessionRevenue && isCountList(key, 4);
  }
}

function isArchivedExperiment([, key, definition, closing, deletedPosition]: readonly unknown[]): boolean {
  if (!Array.isArray(key) || !Array.isArray(definition) || !isCount(deletedPosition ?? 0)) return false;
  const hasKey = isCountList(key.slice(0, 3), 3) && key[2] <= 1 && typeof key[3] === 'string';
  const [json, ...positions] = definition;
  const hasDefinition = typeof json === 'string' && isCountList(positions, 4);
  if (closing === undefined || closing === null) return hasKey && hasDefinition;
  const hasClosing = Array.isArray(closing) && typeof closing[0] === 'string' && isCountList(closing.slice(1), 3);
  return hasKey && hasDefinition && hasClosing;
}

/** Whether the value is a sum, which is rounded if it is not a safe integer. */
export function isSum(value: unknown): boolean {
  return Number.isInteger(value) && (value as number) >= 0;
}

/** Whether the value is a sum as a decimal string, which may have more than 64 bits. */
export function isDecimal(value: unknown): value is string {
  return typeof value === 'string' && /^\d{1,60}$/.test(value);
}
