import { bounds } from '../bounds.ts';
import { microsToUsd } from '../domain/money.ts';
import { compareArms } from '../statistics/compare-arms.ts';
import { createLookRule, type LookRule } from '../statistics/look-rule.ts';
import { type ArmEstimate, estimateArms } from '../statistics/variance-floor.ts';
import type { GroupArmFigures, GroupFigures } from './breakdown-figures.ts';
import type { ExperimentDefinition } from './experiment.ts';
import { type BreakdownGroup, breakdownWarning, type ExperimentResults } from './experiment-results.ts';
import { orderArms } from './take-looks.ts';

/** The rule of one comparison before a planned day: the looks at an interval have an error probability of 1 % together. */
const rule: LookRule = createLookRule(1, true);

/** Computes the member `breakdown` of the results. Compares nothing while earlier sessions are counted. */
export function assembleBreakdown(
  definition: ExperimentDefinition,
  groupBy: string,
  groups: readonly GroupFigures[],
  isFilling: boolean,
): NonNullable<ExperimentResults['breakdown']> {
  return {
    group_by: groupBy,
    warning: breakdownWarning,
    groups: groups.map((group) => toBreakdownGroup(definition, group, isFilling)),
  };
}

function toBreakdownGroup(
  definition: ExperimentDefinition,
  { kind, value, arms }: GroupFigures,
  isFilling: boolean,
): BreakdownGroup {
  const estimates = estimateArms(arms.map(({ mature }) => mature));
  const tagOf = (arm: number) => definition.arms[arm]!.referrerTag;
  const [control, ...others] = orderArms(definition) as [number, ...number[]];
  return {
    kind,
    value,
    arms: arms.map((arm, index) => ({ referrer_tag: tagOf(index), ...toFigures(arm, estimates[index]!) })),
    comparisons: others.map((arm) => ({
      arm: tagOf(arm),
      difference: isFilling ? null : compareInGroup(estimates[arm]!, estimates[control]!),
    })),
  };
}

function toFigures(
  { sessions, units, views, clicks, attributedMicros, confirmedMicros }: GroupArmFigures,
  { sessions: matureSessions, unitsWithRevenue, mean }: ArmEstimate,
): Omit<BreakdownGroup['arms'][number], 'referrer_tag'> {
  return {
    sessions,
    units,
    units_with_revenue: unitsWithRevenue,
    views,
    clicks,
    click_rate: views === 0 ? 0 : clicks / views,
    rev_attributed: microsToUsd(attributedMicros),
    rev_confirmed: microsToUsd(confirmedMicros),
    revenue_per_session: matureSessions === 0 ? null : mean,
  };
}

function compareInGroup(arm: ArmEstimate, control: ArmEstimate): BreakdownGroup['comparisons'][number]['difference'] {
  if (Math.min(arm.unitsWithRevenue, control.unitsWithRevenue) < bounds.unitsWithRevenueMin) return null;
  return compareArms(arm, control, rule, false)?.difference ?? null;
}
