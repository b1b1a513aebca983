import type { Decision } from '../../src/experiments/decide.ts';
import type { ArmFindings, ExperimentFindings } from '../../src/experiments/experiment-findings.ts';
import { type Comparison, createExperimentLooks, type FinalDecision } from '../../src/experiments/experiment-looks.ts';
import type { ComparisonLook } from '../../src/statistics/compare-arms.ts';

/** A look with a relative difference, and a control that earns 2 USD per session. */
export function lookOf(low: number, value: number, high: number): ComparisonLook {
  return {
    difference: { low: 2 * low, value: 2 * value, high: 2 * high },
    relative: { low, value, high },
    pValue: low > 0 || high < 0 ? 0.01 : 0.5,
  };
}

export function comparisonOf(low: number, value: number, high: number): Comparison {
  const look = lookOf(low, value, high);
  return { look, pValue: look.pValue, final: null };
}

/** A final decision of 12 February 2027. */
export function finalOf(decision: FinalDecision['decision']): FinalDecision {
  const look = decision === 'better' ? lookOf(0.04, 0.27, 0.55) : lookOf(-0.5, -0.3, -0.1);
  return { decision, day: Date.UTC(2027, 1, 12) / 86_400_000, look };
}

export const dayOf = (date: string) => Date.parse(date) / 86_400_000;

export function armOf(name: string, more: Partial<ArmFindings> = {}): ArmFindings {
  return { name, weight: 1, units: 5_000, matureUnits: 4_000, unitsWithRevenue: 80, matureDays: 20, ...more };
}

/** Comparison before the first look. */
export const [noComparison] = createExperimentLooks(2).comparisons as [Comparison];

/** Findings about arms B, C, ... in comparison with A. The planned day is 3 March 2027, and the smallest effect of interest is 5 %. */
export function findingsOf(
  decisions: readonly Decision[],
  comparisons: readonly Comparison[],
  more: Partial<ExperimentFindings> = {},
): ExperimentFindings {
  return {
    unit: 'session',
    asOf: dayOf('2027-03-01'),
    decisions,
    invalidReason: null,
    plannings: [],
    fillProgress: null,
    plannedDay: dayOf('2027-03-03'),
    firstMatureDay: null,
    minEffect: 0.05,
    capUsd: null,
    isLast: false,
    arms: Array.from({ length: decisions.length + 1 }, (_, index) => armOf('ABCDEFGHIJ'[index]!)),
    looks: { asOf: dayOf('2027-03-01'), isGateOpen: true, isPlanOver: false, comparisons },
    ...more,
  };
}
