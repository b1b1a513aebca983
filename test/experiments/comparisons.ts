import type { Comparison, FinalDecision } from '../../src/experiments/experiment-looks.ts';
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
