import { type ExperimentLooks, isGateOpen } from '../../src/experiments/experiment-looks.ts';
import { compareArms } from '../../src/statistics/compare-arms.ts';
import { createLookRule, type LookRule } from '../../src/statistics/look-rule.ts';
import { estimateArms } from '../../src/statistics/variance-floor.ts';
import { type LookMethod, looksPerRun } from './simulate-cell.ts';

/** Two-sided 95 % quantile of the normal distribution. */
const normalQuantile = 1.96;

/** Looks at a plain normal interval on the given days. The first interval that excludes 0 decides. */
function plainInterval(name: string, isLookDay: (day: number) => boolean): LookMethod {
  const rule: LookRule = { ...createLookRule(1, true), plannedMultiplier: normalQuantile };
  return {
    name,
    create: () => (before, day, arms) => {
      if (!isLookDay(day) || !isGateOpen(arms)) return { ...before, isGateOpen: false };
      const [control, ...others] = estimateArms(arms.map(({ sums }) => sums));
      const comparisons: ExperimentLooks['comparisons'] = others.map((arm, index) => {
        const look = compareArms(arm, control!, rule, true);
        const sign =
          look === null ? 0 : Math.sign(Math.max(look.difference.low, 0) + Math.min(look.difference.high, 0));
        const decision = sign > 0 ? 'better' : 'worse';
        const final = look === null || sign === 0 ? null : ({ decision, day, look } as const);
        return { look, pValue: null, final: before.comparisons[index]!.final ?? final };
      });
      return { asOf: day, isGateOpen: true, isPlanOver: false, comparisons };
    },
  };
}

/** Methods for comparison. A simulation that does not find the errors of daily looks at a plain interval is useless. */
export const otherMethods: readonly LookMethod[] = [
  plainInterval('plain interval, daily looks', () => true),
  plainInterval('plain interval, one look at the end', (day) => day === looksPerRun),
];
