import type { Comparison, ExperimentLooks } from './experiment-looks.ts';

/** Decisions about one arm. The first that holds for any arm decides the whole experiment. */
export const decisions = [
  'invalid',
  'exploratory',
  'too_early',
  'better',
  'no_decision',
  'undecided',
  'equivalent',
  'worse',
] as const;
export type Decision = (typeof decisions)[number];

export interface DecisionInput {
  /** If earlier sessions are still being counted. */
  readonly isFilling: boolean;
  /** If the figures must not be used, for example because the split of the units is not the intended one. */
  readonly isInvalid: boolean;
  /** If the experiment was created after its first day. */
  readonly isRetrospective: boolean;
  /** Smallest effect of interest as a share of the control's mean, such as 0.1; null without one. */
  readonly minEffect: number | null;
  readonly looks: Pick<ExperimentLooks, 'isGateOpen' | 'isPlanOver'>;
}

/** Decides about one arm in comparison with the control. */
export function decideArm(
  { isFilling, isInvalid, isRetrospective, minEffect, looks }: DecisionInput,
  comparison: Comparison,
): Decision {
  if (isFilling) return 'too_early';
  if (isInvalid) return 'invalid';
  if (isRetrospective) return 'exploratory';
  if (comparison.final !== null) return comparison.final.decision;
  // The data of a plan that is over do not grow, so a gate that is still closed never opens.
  if (!looks.isGateOpen) return looks.isPlanOver ? 'no_decision' : 'too_early';
  if (isEquivalent(comparison, minEffect)) return 'equivalent';
  return looks.isPlanOver ? 'no_decision' : 'undecided';
}

/** An arm is equivalent if its relative difference is certainly within the smallest effect of interest. */
function isEquivalent({ look }: Comparison, minEffect: number | null): boolean {
  const relative = look?.relative ?? null;
  return minEffect !== null && relative !== null && relative.low >= -minEffect && relative.high <= minEffect;
}

/** Decides about an experiment from the decisions of its arms: the first of `decisions` that holds for any arm, so `worse` if all are worse. */
export function decideExperiment(arms: readonly Decision[]): Decision {
  return decisions.find((decision) => arms.includes(decision))!;
}
