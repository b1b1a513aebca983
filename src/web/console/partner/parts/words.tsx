import type { ExperimentResponse, ExperimentResults } from '../../common/api-types.ts';

type Decision = ExperimentResults['decision'];

/** Short words for the decisions of the API, with the kind of their look. The sentence of the API says the same with figures. */
const decisionWords: Readonly<Record<Decision, readonly [text: string, kind: string]>> = {
  too_early: ['Too early', ''],
  undecided: ['Undecided', ''],
  better: ['Better', 'good'],
  worse: ['Worse', 'bad'],
  equivalent: ['Same', ''],
  no_decision: ['No winner', ''],
  exploratory: ['For ideas only', 'warn'],
  invalid: ['Do not use', 'bad'],
};

export function DecisionWord({ decision }: { readonly decision: Decision }) {
  const [text, kind] = decisionWords[decision] ?? [decision, ''];
  return <span class={`word ${kind}`}>{text}</span>;
}

/** Kind of the notice that contains the sentence of a decision. */
export function noticeKindOf(decision: Decision): 'info' | 'good' | 'warn' | 'bad' {
  const kind = decisionWords[decision]?.[1];
  return kind === 'good' || kind === 'warn' || kind === 'bad' ? kind : 'info';
}

export const stateTexts: Readonly<Record<ExperimentResponse['state'], string>> = {
  running: 'Running',
  maturing: 'Waiting for revenue',
  final: 'Final',
  closed: 'Closed',
};

export const outcomeTexts: Readonly<Record<NonNullable<ExperimentResponse['closing']>['outcome'], string>> = {
  ship: 'Ship an arm',
  keep_control: 'Keep the control',
  no_decision: 'No decision',
  broken: 'Broken: the figures must not be used',
};

/** Name of an arm: its label, or its tag. */
export function armName({
  label,
  referrer_tag,
}: {
  readonly label: string | null;
  readonly referrer_tag: string;
}): string {
  return label ?? referrer_tag;
}

/** Returns the names of arms by their tags. */
export function armNames(
  arms: readonly { readonly label: string | null; readonly referrer_tag: string }[],
): (tag: string) => string {
  const names = new Map(arms.map((arm) => [arm.referrer_tag, armName(arm)]));
  return (tag) => names.get(tag) ?? tag;
}
