import { bounds } from '../bounds.ts';
import type { ArmFindings, ExperimentFindings, InvalidReason } from './experiment-findings.ts';
import { formatCount, formatCountOf, formatPercent } from './wording.ts';

/** Describes why the figures must not be used, and what to check first. */
export function describeInvalid(findings: ExperimentFindings, reason: InvalidReason): string {
  return `Do not use these figures: ${describeReason(findings, reason)}`;
}

function describeReason({ unit, arms }: ExperimentFindings, reason: InvalidReason): string {
  switch (reason.kind) {
    case 'split':
      return `${describeSplit(arms, unit)}. Look first at redirects, caching and bots.`;
    case 'several arms':
      return (
        `${formatPercent(reason.share)} of the visitors of ${reason.arm} saw more than one arm. Check how your page remembers the arm ` +
        'of a visitor.'
      );
    case 'no unit':
      return (
        `${formatPercent(reason.share)} of the sessions have no unit_id, so their visitors are unknown. Send unit_id with each session: a ` +
        `share of up to ${formatPercent(bounds.sessionsWithoutUnitShareMax)} without it is allowed.`
      );
  }
}

/** Describes the split of two arms, or the arm of several whose number of units deviates most from the intended split. */
function describeSplit(arms: readonly ArmFindings[], unit: ExperimentFindings['unit']): string {
  const totalUnits = arms.reduce((sum, arm) => sum + arm.units, 0);
  const totalWeight = arms.reduce((sum, { weight }) => sum + weight, 0);
  const [first, second] = arms;
  if (arms.length === 2) {
    const intended =
      first!.weight === second!.weight
        ? 'equal numbers were intended'
        : `${formatPercent(first!.weight / totalWeight)} and ${formatPercent(second!.weight / totalWeight)} were intended`;
    return `${first!.name} got ${formatCountOf(first!.units, unit)} and ${second!.name} ${formatCount(second!.units)} where ${intended}`;
  }
  const deviationOf = ({ units: own, weight }: ArmFindings) => {
    const expected = (totalUnits * weight) / totalWeight;
    return Math.abs(own - expected) / Math.sqrt(expected);
  };
  const worst = arms.reduce((most, arm) => (deviationOf(arm) > deviationOf(most) ? arm : most));
  const expected = Math.round((totalUnits * worst.weight) / totalWeight);
  return `${worst.name} got ${formatCount(worst.units)} of ${formatCountOf(totalUnits, unit)} where ${formatCount(expected)} ${expected === 1 ? 'was' : 'were'} intended`;
}
