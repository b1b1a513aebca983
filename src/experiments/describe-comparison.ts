import { bounds } from '../bounds.ts';
import type { ComparisonLook } from '../statistics/compare-arms.ts';
import { describeInvalid } from './describe-invalid.ts';
import { describeMissingData } from './describe-missing-data.ts';
import type { ExperimentFindings } from './experiment-findings.ts';
import type { FinalDecision } from './experiment-looks.ts';
import { describeDifference, formatCountOf, formatDay, formatPercent, formatUsd, isStillShown } from './wording.ts';

const noSpread = 'all revenues of an arm are equal, so their spread is unknown';

/**
 * Describes the comparison of one arm with the control in plain English. The text claims no more than the figures allow, so a reader needs
 * nothing else. `index` is the position in `findings.decisions`.
 */
export function describeComparison(findings: ExperimentFindings, index: number): string {
  return `${describeDecision(findings, index)}${describeCap(findings)}`;
}

/** Describes the maximum revenue of a session; empty without a maximum. */
export function describeCap({ capUsd }: ExperimentFindings): string {
  return capUsd === null ? '' : ` Revenue of a session above ${formatUsd(capUsd)} counts as ${formatUsd(capUsd)}.`;
}

/**
 * Describes when to look again; empty if these are the last results. `undecided` has the positions of the undecided arms in
 * `findings.decisions`.
 */
export function describeNextLooks(findings: ExperimentFindings, undecided: readonly number[]): string {
  const { plannedDay, isLast } = findings;
  if (isLast) return '';
  const planned = plannedDay === null ? '' : ` Planned day: ${formatDay(plannedDay)}.`;
  return ` You may look every day; the interval allows for it.${planned}${describePlanning(findings, undecided)}`;
}

/** Describes when the smallest effect of interest is likely to be found; empty if that is unknown. */
function describePlanning({ plannings, minEffect }: ExperimentFindings, undecided: readonly number[]): string {
  const plans = undecided.flatMap((index) => plannings[index] ?? []);
  const smallestEffect = Math.max(0, ...plans.map((plan) => plan.smallestEffect ?? 0));
  if (smallestEffect > 0)
    return ` By then, only a difference of at least ${formatPercent(smallestEffect, 'up')} is likely to be found.`;
  const daysLeft = Math.max(0, ...plans.map((plan) => plan.daysLeft ?? 0));
  if (daysLeft === 0) return '';
  const effect = formatPercent(minEffect!);
  return daysLeft > bounds.experimentDaysMax
    ? ` At the present rate, a difference of ${effect} is not likely to be found within ${formatCountOf(bounds.experimentDaysMax, 'day')}.`
    : ` A difference of ${effect} is likely to be found after about ${formatCountOf(daysLeft, 'more day')} at the present rate.`;
}

export const exploratoryWarning =
  'For ideas, not for decisions: the experiment was created after its first day, and the interval does not allow for a choice of arms by their figures.';

function describeDecision(findings: ExperimentFindings, index: number): string {
  const { arms, decisions, looks, invalidReason, minEffect } = findings;
  const [control, arm] = [arms[0]!.name, arms[index + 1]!.name];
  const { look, final } = looks.comparisons[index]!;
  const range = look === null ? null : `${describeDifference(look).range} per session`;
  switch (decisions[index]!) {
    case 'invalid':
      return describeInvalid(findings, invalidReason!);
    case 'exploratory':
      return `${exploratoryWarning} ${range === null ? 'No comparison is possible yet.' : `${arm} earned ${range} than ${control}.`}`;
    case 'too_early':
      return `Too early to say: ${describeMissingData(findings)}.`;
    case 'better':
    case 'worse':
      return describeFinal(findings, arm, final!, look);
    case 'equivalent':
      return `${arm} earns the same as ${control} within ${formatPercent(minEffect!)}: ${range}.`;
    case 'undecided':
      if (range === null) return `No difference shown yet: ${noSpread}.`;
      return `No difference shown yet: ${arm} earns ${range} than ${control}.${describeNextLooks(findings, [index])}`;
    case 'no_decision':
      return describePlanOver(findings, arm, look);
  }
}

/** Describes a final decision with the present figures, or with those of its day if the present ones no longer show a difference. */
function describeFinal(
  { arms, looks }: ExperimentFindings,
  arm: string,
  final: FinalDecision,
  lookNow: ComparisonLook | null,
): string {
  const control = arms[0]!.name;
  const { decision, day, look: lookThen } = final;
  const more = decision === 'better' ? 'more' : 'less';
  const look = lookNow ?? lookThen;
  if (isStillShown(final, look)) {
    const { value, range } = describeDifference(look);
    return `${arm} earns ${more} than ${control}: ${value} ${more} per session, ${range}. Decided on ${formatDay(day)}.`;
  }
  return (
    `${arm} earned ${more} than ${control} when this was decided on ${formatDay(day)}: ${describeDifference(lookThen).range} per session. ` +
    `The figures up to ${formatDay(looks.asOf!)} no longer show this: ${describeDifference(look).range}.`
  );
}

function describePlanOver(findings: ExperimentFindings, arm: string, look: ComparisonLook | null): string {
  if (look === null) {
    const reason = findings.looks.isGateOpen ? noSpread : describeMissingData(findings);
    return `The plan is over without a comparison: ${reason}.`;
  }
  const { low, high } = describeDifference(look);
  // A loss is never above 100 %.
  const loss = look.relative !== null && look.relative.low <= -1 ? '' : ` and a loss above ${low}`;
  return (
    `The plan is over without a winner. For ${arm} in comparison with ${findings.arms[0]!.name}, the data rule out a gain above ` +
    `${high}${loss} per session.`
  );
}
