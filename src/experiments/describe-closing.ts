import { daysSinceEpoch, parseIsoDate } from '../domain/calendar.ts';
import type { ExperimentClosing, ExperimentDefinition } from './experiment.ts';
import type { ExperimentResults } from './experiment-results.ts';
import { formatDay } from './wording.ts';

/** Describes a closed experiment by its outcome and the sentence of its last results. */
export function describeClosing(
  { arms, control }: ExperimentDefinition,
  { outcome, arm, closedMs }: ExperimentClosing,
  { as_of, sentence }: Pick<ExperimentResults, 'as_of' | 'sentence'>,
): string {
  const nameOf = (tag: string) => arms.find(({ referrerTag }) => referrerTag === tag)?.label ?? tag;
  const outcomes: Readonly<Record<ExperimentClosing['outcome'], string>> = {
    ship: arm === null ? `to ship an arm other than ${nameOf(control)}` : `to ship ${nameOf(arm)}`,
    keep_control: `to keep ${nameOf(control)}`,
    no_decision: 'without a decision',
    broken: 'as broken',
  };
  const closed = `Closed on ${formatDay(daysSinceEpoch(closedMs))} ${outcomes[outcome]}.`;
  return `${closed} The results up to ${formatDay(parseIsoDate(as_of)!)}: ${sentence}`;
}
