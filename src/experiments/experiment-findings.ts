import type { Planning } from '../statistics/planning.ts';
import type { Decision } from './decide.ts';
import type { ExperimentLooks } from './experiment-looks.ts';

/** One arm, as its sentences need it. */
export interface ArmFindings {
  /** Label of the arm, or its tag. */
  readonly name: string;
  /** Intended share, in relation to the other arms. */
  readonly weight: number;
  /** Units of all closed days. */
  readonly units: number;
  readonly matureUnits: number;
  readonly unitsWithRevenue: number;
  /** Number of mature cohort days on which the arm had sessions. */
  readonly matureDays: number;
}

/** Why the figures of an experiment must not be used. */
export type InvalidReason =
  | { readonly kind: 'split' }
  /** `share` is the part of the units of an arm that also had sessions in other arms. */
  | { readonly kind: 'several arms'; readonly arm: string; readonly share: number }
  /** `share` is the part of the sessions without `unit_id`. */
  | { readonly kind: 'no unit'; readonly share: number };

/** Everything that the sentences about an experiment depend on. Days are in days since 1970-01-01 UTC. */
export interface ExperimentFindings {
  readonly unit: 'session' | 'visitor';
  /** Last closed day. */
  readonly asOf: number;
  /** The control, and then the other arms in the order of `decisions` and `looks.comparisons`. */
  readonly arms: readonly ArmFindings[];
  readonly decisions: readonly Decision[];
  readonly looks: ExperimentLooks;
  /** Whether a closing stores these results, so that there are no later results. */
  readonly isLast: boolean;
  /** Plans in the order of `decisions`; null where nothing can be planned. */
  readonly plannings: readonly (Planning | null)[];
  /** Share of the earlier sessions that are counted; null when all are counted. */
  readonly fillProgress: number | null;
  readonly invalidReason: InvalidReason | null;
  readonly plannedDay: number | null;
  /** Day on which the first sessions are mature; null without sessions. */
  readonly firstMatureDay: number | null;
  /** Smallest effect of interest as a share of the control's mean; null without one. */
  readonly minEffect: number | null;
  /** Maximum revenue that counts for one session; null without a maximum. */
  readonly capUsd: number | null;
}
