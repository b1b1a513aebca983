import { type Static, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { bounds } from '../bounds.ts';
import { daysSinceEpoch } from '../domain/calendar.ts';
import { nullableSchema } from '../domain/nullable-schema.ts';

const dayNumber = Type.Integer({ minimum: 0 });
const tag = Type.String({ maxLength: bounds.ledgerNameCharactersMax });

const armSchema = Type.Object({
  referrerTag: tag,
  /** Intended share of the units. The weights of all arms add up to 1. */
  weight: Type.Number({ exclusiveMinimum: 0 }),
  label: nullableSchema(Type.String()),
});

/** Definition as the ledger contains it. A later release may add members. */
const definitionSchema = Type.Object({
  /** Each arm has its own referrer tag. */
  arms: Type.Array(armSchema, { minItems: bounds.experimentArmsMin, maxItems: bounds.experimentArmsMax }),
  /** Referrer tag of the arm with which all other arms are compared. */
  control: tag,
  unit: Type.Enum(['session', 'visitor']),
  /** Who chooses the arm of a visitor: `own` for the partner's own rule, or `hash` for `assignArm`. */
  assignment: Type.Enum(['own', 'hash']),
  /** First cohort day. */
  startsOn: dayNumber,
  /** Last cohort day; null for an experiment without a planned end. */
  endsOn: nullableSchema(dayNumber),
  /** Smallest effect of interest, in percent of the control's mean; null without one. */
  minEffectPercent: nullableSchema(Type.Number({ exclusiveMinimum: 0 })),
  /** Maximum revenue that counts for one session, in micro-dollars; null without a maximum. */
  capMicros: nullableSchema(Type.Integer({ minimum: 1 })),
  hypothesis: nullableSchema(Type.String()),
  /** Keys of the session metadata by which results can be grouped. */
  dimensions: Type.Array(Type.String(), { maxItems: bounds.experimentDimensionsMax }),
  /** Days after the cohort day in which revenue must occur to count; depends on the vertical and is fixed at the creation. */
  revenueDays: Type.Integer({ minimum: 0, maximum: bounds.maturedDays }),
  /** Days after `revenueDays` in which the service must have accepted the revenue; fixed at the creation. */
  graceDays: Type.Integer({ minimum: 0, maximum: bounds.confirmationGraceDaysMax }),
});

/** Definition of an experiment (docs/contract.md#experiments). Days are in days since 1970-01-01 UTC. */
export type ExperimentDefinition = Static<typeof definitionSchema>;
export type ExperimentArm = Static<typeof armSchema>;

/** Outcomes with which a partner closes an experiment. */
export const experimentOutcomes = ['ship', 'keep_control', 'no_decision', 'broken'] as const;

const outcomeSchema = Type.Object({
  outcome: Type.Enum(experimentOutcomes),
  /** Referrer tag of the arm that the outcome is about; null without one. */
  arm: nullableSchema(tag),
  note: nullableSchema(Type.String()),
  /** Results at the time of closing, as the API returned them, without the series. */
  results: Type.Object({}),
});

/** Outcome of an experiment, as the ledger contains it. */
export type ExperimentOutcome = Static<typeof outcomeSchema>;

const definitionValidator = Compile(definitionSchema);
const outcomeValidator = Compile(outcomeSchema);

/** Parses the definition in a ledger record. Returns null if the text is not a definition. */
export function parseExperimentDefinition(text: string): ExperimentDefinition | null {
  const value = parseJson(text);
  if (!definitionValidator.Check(value)) return null;
  return value.arms.some(({ referrerTag }) => referrerTag === value.control) ? value : null;
}

/** Parses the outcome in a ledger record. Returns null if the text is not an outcome. */
export function parseExperimentOutcome(text: string): ExperimentOutcome | null {
  const value = parseJson(text);
  return outcomeValidator.Check(value) ? value : null;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** An experiment of a tenant, as the analytics store has it. */
export interface Experiment {
  readonly name: string;
  readonly definition: ExperimentDefinition;
  /** Time of the first definition, in Unix milliseconds. */
  readonly createdMs: number;
  readonly closing: ExperimentClosing | null;
  /** Whether the experiment is hidden from the list. Its name stays taken. */
  readonly isDeleted: boolean;
}

export const experimentStates = ['running', 'maturing', 'final', 'closed'] as const;
export type ExperimentState = (typeof experimentStates)[number];

export interface ExperimentClosing extends ExperimentOutcome {
  /** Time of the closing, in Unix milliseconds. */
  readonly closedMs: number;
  /** Number of the API key that closed the experiment. */
  readonly keyNumber: number;
}

type MaturityRule = Pick<ExperimentDefinition, 'revenueDays' | 'graceDays'>;

/** Returns the first closed day whose results include the sessions of a cohort day, because their revenue can no longer change. */
export function matureDayOf({ revenueDays, graceDays }: MaturityRule, cohortDay: number): number {
  return cohortDay + revenueDays + graceDays + 1;
}

/** Returns the last cohort day that is mature in the results of the closed day `asOf`. */
export function lastMatureCohortDay({ revenueDays, graceDays }: MaturityRule, asOf: number): number {
  return asOf - revenueDays - graceDays - 1;
}

/** Returns the closed day of the last look, on which all cohorts are mature; null without a planned end. */
export function plannedDayOf(definition: ExperimentDefinition): number | null {
  return definition.endsOn === null ? null : matureDayOf(definition, definition.endsOn);
}

/** Whether the experiment was created after its first day, so that its arms may have been chosen by their figures. */
export function isRetrospective({ definition, createdMs }: Pick<Experiment, 'definition' | 'createdMs'>): boolean {
  return definition.startsOn < daysSinceEpoch(createdMs);
}

/** Returns the state of an experiment on a day. An experiment is also `running` before its first day. */
export function experimentStateOn(
  { definition, closing }: Pick<Experiment, 'definition' | 'closing'>,
  today: number,
): ExperimentState {
  if (closing !== null) return 'closed';
  const plannedDay = plannedDayOf(definition);
  if (plannedDay === null || isRunningOn(definition, today)) return 'running';
  return today <= plannedDay ? 'maturing' : 'final';
}

/** Whether the last cohort day of an experiment that is not closed is today or later. */
export function isRunningOn({ endsOn }: Pick<ExperimentDefinition, 'endsOn'>, today: number): boolean {
  return endsOn === null || today <= endsOn;
}
