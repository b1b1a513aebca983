import { largeUnitSumNames } from '../experiments/unit-sums.ts';
import { unitHashByteLength } from '../ids/unit-hasher.ts';
import { isCount } from '../ledger/ledger-record.ts';

/**
 * Archive records of experiments. They follow the counters of all referrer tags: an `ArchivedExperiment`, and then its rows of the archived
 * days. See `ExperimentSums` for the figures.
 */
export type ExperimentArchiveRecord =
  | ArchivedExperiment
  | ArchivedExperimentDay
  | ArchivedExperimentAge
  | ArchivedVisitor
  | ArchivedSessionRevenue;

export const experimentArchiveKind = { experiment: 16, day: 17, age: 18, visitor: 19, sessionRevenue: 20 } as const;

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
];

/** Frozen revenue of a session, in an experiment whose units are sessions. */
export type ArchivedSessionRevenue = readonly [
  kind: 20,
  revenue: readonly [day: number, arm: number, sessionPosition: number, revenueMicros: number],
];

const isCountList = (value: unknown, length: number): boolean =>
  Array.isArray(value) && value.length >= length && value.every(isCount);

export function isExperimentArchiveRecord(value: readonly unknown[]): value is ExperimentArchiveRecord {
  const [kind, key] = value;
  switch (kind) {
    case experimentArchiveKind.experiment:
      return isArchivedExperiment(value);
    case experimentArchiveKind.day: {
      const [, , sums, largeSums] = value;
      if (!isCountList(key, 3)) return false;
      if (sums === undefined) return true;
      const hasSums = Array.isArray(sums) && sums.every(isSum);
      return (
        hasSums &&
        Array.isArray(largeSums) &&
        largeSums.length >= largeUnitSumNames.length &&
        largeSums.every(isDecimal)
      );
    }
    case experimentArchiveKind.age:
      return Array.isArray(key) && isCountList(key.slice(0, 3), 3) && Number.isInteger(key[3]);
    case experimentArchiveKind.visitor: {
      const [, , unit, days] = value;
      const isUnit = unit instanceof Uint8Array && unit.byteLength === unitHashByteLength;
      return isCountList(key, 3) && isUnit && days instanceof Uint8Array;
    }
    default:
      return kind === experimentArchiveKind.sessionRevenue && isCountList(key, 4);
  }
}

function isArchivedExperiment([, key, definition, closing, deletedPosition]: readonly unknown[]): boolean {
  if (!Array.isArray(key) || !Array.isArray(definition) || !isCount(deletedPosition ?? 0)) return false;
  const hasKey = isCountList(key.slice(0, 3), 3) && key[2] <= 1 && typeof key[3] === 'string';
  const hasDefinition = typeof definition[0] === 'string' && isCountList(definition.slice(1), 4);
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
