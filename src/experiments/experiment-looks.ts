import { bounds } from '../bounds.ts';
import type { ArmSums } from '../statistics/arm-sums.ts';
import { type ComparisonLook, compareArms } from '../statistics/compare-arms.ts';
import { createLookRule, type LookRule } from '../statistics/look-rule.ts';
import { estimateArms } from '../statistics/variance-floor.ts';

/** Plan of the looks at an experiment, fixed at its creation. */
export interface LookPlan {
  readonly rule: LookRule;
  /** First day on which all cohorts of the experiment are mature, in days since 1970-01-01 UTC; null without a planned end. */
  readonly plannedDay: number | null;
}

/** Data of one arm at the close of a UTC day. */
export interface ArmAtLook {
  /** Sums over all units that are mature on this day. */
  readonly sums: ArmSums;
  /** Number of mature cohort days on which the arm had sessions. */
  readonly matureDays: number;
}

/** `better` and `worse` are final: the first interval that excludes 0 decides. */
export interface FinalDecision {
  readonly decision: 'better' | 'worse';
  readonly day: number;
  /** The look of that day. */
  readonly look: ComparisonLook;
}

/** Comparison of one arm with the control, after all looks so far. */
export interface Comparison {
  /** The last look; null before the gate opens, or if nothing is known about the spread. */
  readonly look: ComparisonLook | null;
  /** Minimum of the p values of all looks; null before the first. */
  readonly pValue: number | null;
  readonly final: FinalDecision | null;
}

/** State of an experiment after the looks so far. */
export interface ExperimentLooks {
  /** Day of the last look; null before the first. */
  readonly asOf: number | null;
  /** If every arm has enough data for a comparison. */
  readonly isGateOpen: boolean;
  /** If the look of the planned day has been taken. Nothing changes after it. */
  readonly isPlanOver: boolean;
  /** One comparison for each arm other than the control, in the order of the arms. */
  readonly comparisons: readonly Comparison[];
}

/** Creates the plan of an experiment with `arms` arms, including the control. */
export function createLookPlan(arms: number, plannedDay: number | null): LookPlan {
  return { rule: createLookRule(arms - 1, plannedDay !== null), plannedDay };
}

/** Returns the state before the first look at an experiment with `arms` arms, including the control. */
export function createExperimentLooks(arms: number): ExperimentLooks {
  const comparison: Comparison = { look: null, pValue: null, final: null };
  return {
    asOf: null,
    isGateOpen: false,
    isPlanOver: false,
    comparisons: Array<Comparison>(arms - 1).fill(comparison),
  };
}

/** Returns whether every arm has enough data for a comparison: too few payouts give an interval that is wrong too often. */
export function isGateOpen(arms: readonly ArmAtLook[]): boolean {
  return arms.every(
    ({ sums, matureDays }) => sums.unitsWithRevenue >= bounds.unitsWithRevenueMin && matureDays >= bounds.matureDaysMin,
  );
}

/**
 * Adds the look at the close of a day. `arms` has the control first. Looks must be added for every day, in order; on the planned day, the
 * last look is added.
 */
export function addLook(
  before: ExperimentLooks,
  plan: LookPlan,
  day: number,
  arms: readonly ArmAtLook[],
): ExperimentLooks {
  if (before.isPlanOver) return before;
  const isPlanOver = plan.plannedDay !== null && day >= plan.plannedDay;
  if (!isGateOpen(arms)) return { ...before, asOf: day, isGateOpen: false, isPlanOver };
  const [control, ...others] = estimateArms(arms.map(({ sums }) => sums));
  const comparisons = others.map((arm, index) =>
    addComparisonLook(before.comparisons[index]!, day, compareArms(arm, control!, plan.rule, isPlanOver)),
  );
  return { asOf: day, isGateOpen: true, isPlanOver, comparisons };
}

function addComparisonLook({ pValue, final }: Comparison, day: number, look: ComparisonLook | null): Comparison {
  if (look === null) return { look, pValue, final };
  return { look, pValue: Math.min(pValue ?? 1, look.pValue), final: final ?? decideFinally(day, look) };
}

function decideFinally(day: number, look: ComparisonLook): FinalDecision | null {
  if (look.difference.low > 0) return { decision: 'better', day, look };
  if (look.difference.high < 0) return { decision: 'worse', day, look };
  return null;
}
