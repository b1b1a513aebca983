import { type Decision, decideExperiment } from './decide.ts';
import { describeCap, describeComparison, describeNextLooks, exploratoryWarning } from './describe-comparison.ts';
import type { ExperimentFindings } from './experiment-findings.ts';
import { formatPercent, isStillShown, joinNames } from './wording.ts';

/** Describes the whole experiment in plain English. With one arm besides the control, this is the text of its comparison. */
export function describeExperiment(findings: ExperimentFindings): string {
  const { arms, decisions } = findings;
  const decision = decideExperiment(decisions);
  // These texts are about all arms.
  const isCommon =
    decision === 'invalid' || decision === 'too_early' || (decision === 'no_decision' && !findings.looks.isGateOpen);
  if (decisions.length === 1 || isCommon) return describeComparison(findings, decisions.indexOf(decision));
  if (decision === 'exploratory') return `${exploratoryWarning}${describeCap(findings)}`;
  const clauses = describeArms(findings);
  const lead = describeLead(decision, arms[0]!.name);
  const untested =
    decisions.filter((arm) => arm === 'better').length > 1 ? ['The better arms are not compared with each other.'] : [];
  const undecided = decisions.flatMap((arm, index) => (arm === 'undecided' ? [index] : []));
  const next = undecided.length > 0 ? describeNextLooks(findings, undecided) : '';
  return `${[...lead, ...clauses, ...untested].join(' ')}${next}${describeCap(findings)}`;
}

function describeLead(decision: Decision, control: string): string[] {
  if (decision === 'no_decision') return ['The plan is over without a winner.'];
  if (decision === 'undecided') return [`No arm is shown to earn more than ${control} yet.`];
  if (decision === 'equivalent') return [`No arm is shown to earn more than ${control}.`];
  return [];
}

/** Returns one sentence for each decision, with the arms that have it. */
function describeArms({ arms, decisions, looks, minEffect }: ExperimentFindings): string[] {
  const control = arms[0]!.name;
  /** Names of the arms with a decision that the present figures show (`now`), or no longer show (`then`). */
  const namesOf = (decision: Decision, shown: 'now' | 'then' = 'now') =>
    arms.slice(1).flatMap(({ name }, index) => {
      const { look, final } = looks.comparisons[index]!;
      const isShown = look === null || final === null || isStillShown(final, look);
      return decisions[index] === decision && isShown === (shown === 'now') ? [name] : [];
    });
  const sentence = (names: readonly string[], one: string, several: string) =>
    names.length === 0 ? [] : [`${joinNames(names)} ${names.length === 1 ? one : several}.`];
  const later = 'the present figures no longer show this';
  return [
    ...sentence(namesOf('better'), `earns more than ${control}`, `earn more than ${control}`),
    ...sentence(
      namesOf('better', 'then'),
      `was found to earn more than ${control}, but ${later}`,
      `were found to earn more than ${control}, but ${later}`,
    ),
    ...sentence(namesOf('worse'), `earns less than ${control}`, `earn less than ${control}`),
    ...sentence(
      namesOf('worse', 'then'),
      `was found to earn less than ${control}, but ${later}`,
      `were found to earn less than ${control}, but ${later}`,
    ),
    ...sentence(
      namesOf('equivalent'),
      `earns the same as ${control} within ${formatPercent(minEffect ?? 0)}`,
      `earn the same as ${control} within ${formatPercent(minEffect ?? 0)}`,
    ),
    ...sentence(
      namesOf('undecided'),
      `is not shown to differ from ${control} yet`,
      `are not shown to differ from ${control} yet`,
    ),
    ...sentence(
      namesOf('no_decision'),
      `is not shown to differ from ${control}`,
      `are not shown to differ from ${control}`,
    ),
  ];
}
