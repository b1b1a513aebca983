import { daysSinceEpoch } from '../domain/calendar.ts';

/** Definition of an experiment (docs/contract.md#experiments). Days are in days since 1970-01-01 UTC. */
export interface ExperimentDefinition {
  /** 2 to `bounds.experimentArmsMax` arms, each with its own referrer tag. */
  readonly arms: readonly ExperimentArm[];
  /** Referrer tag of the arm with which all other arms are compared. */
  readonly control: string;
  readonly unit: 'session' | 'visitor';
  /** Who chooses the arm of a visitor: the partner's own rule, or `assignArm`, which the service checks. */
  readonly assignment: 'own' | 'hash';
  /** First cohort day. */
  readonly startsOn: number;
  /** Last cohort day; null for an experiment without a planned end. */
  readonly endsOn: number | null;
  /** Smallest effect of interest, in percent of the control's mean; null without one. */
  readonly minEffectPercent: number | null;
  /** Maximum revenue that counts for one session, in micro-dollars; null without a maximum. */
  readonly capMicros: number | null;
  readonly hypothesis: string | null;
  /** Keys of the session metadata by which results can be grouped. */
  readonly dimensions: readonly string[];
  /** Days after the cohort day in which revenue must occur to count; depends on the vertical and is fixed at the creation. */
  readonly revenueDays: number;
  /** Days after the end of `revenueDays` in which the service must have accepted the revenue; fixed at the creation. */
  readonly graceDays: number;
}

export interface ExperimentArm {
  readonly referrerTag: string;
  /** Intended share of the units. The weights of all arms add up to 1. */
  readonly weight: number;
  readonly label: string | null;
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

/** Outcomes with which a partner closes an experiment. */
export const experimentOutcomes = ['ship', 'keep_control', 'no_decision', 'broken'] as const;

export interface ExperimentClosing {
  readonly outcome: (typeof experimentOutcomes)[number];
  /** Referrer tag of the arm that the outcome is about; null without one. */
  readonly arm: string | null;
  readonly note: string | null;
  readonly closedMs: number;
  /** Number of the API key that closed the experiment. */
  readonly keyNumber: number;
  /** Results at the time of closing, as the API returned them, without the series. */
  readonly results: object;
}

/** Returns the first day on whose results the sessions of a cohort day count, because their revenue can no longer change. */
export function matureDayOf({ revenueDays, graceDays }: ExperimentDefinition, cohortDay: number): number {
  return cohortDay + revenueDays + graceDays + 1;
}

/** Returns the last cohort day that is mature in the results of the closed day `asOf`. */
export function lastMatureCohortDay({ revenueDays, graceDays }: ExperimentDefinition, asOf: number): number {
  return asOf - revenueDays - graceDays - 1;
}

/** Returns the day of the last look, on which all cohorts are mature; null without a planned end. */
export function plannedDayOf(definition: ExperimentDefinition): number | null {
  return definition.endsOn === null ? null : matureDayOf(definition, definition.endsOn);
}

/** Whether the experiment was created after its first day, so that its arms may have been chosen by their figures. */
export function isRetrospective({ definition, createdMs }: Pick<Experiment, 'definition' | 'createdMs'>): boolean {
  return definition.startsOn < daysSinceEpoch(createdMs);
}
