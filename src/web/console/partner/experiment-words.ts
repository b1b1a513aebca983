import type { ExperimentResponse, ExperimentResults } from '../common/api-types.ts';
import { formatUtcDay } from '../common/format.ts';

type State = ExperimentResults['state'];
type Decision = ExperimentResults['decision'];
type Closing = NonNullable<ExperimentResponse['closing']>;

/** Short text about an experiment or an arm, and the kind of its look. */
export interface Word {
  readonly text: string;
  readonly kind: '' | 'good' | 'warn' | 'bad';
}

/** Words of decisions. The sentence of the API says the same with figures. */
const decisionWords: Readonly<Record<Decision, Word>> = {
  too_early: { text: 'Too early', kind: '' },
  undecided: { text: 'Undecided', kind: '' },
  better: { text: 'Better', kind: 'good' },
  worse: { text: 'Worse', kind: 'bad' },
  equivalent: { text: 'Same', kind: '' },
  no_decision: { text: 'No winner', kind: '' },
  exploratory: { text: 'For ideas only', kind: 'warn' },
  invalid: { text: 'Do not use', kind: 'bad' },
};

/** Words of the outcomes with which a partner closes an experiment. */
export const outcomeWords: Readonly<Record<Closing['outcome'], Word>> = {
  ship: { text: 'Ship an arm', kind: 'good' },
  keep_control: { text: 'Keep the control', kind: '' },
  no_decision: { text: 'No decision', kind: '' },
  broken: { text: 'Broken: do not use', kind: 'bad' },
};

const stateTexts: Readonly<Record<Exclude<State, 'closed'>, string>> = {
  running: 'Running',
  maturing: 'Waiting for revenue',
  final: 'Final',
};

/** What the figures showed when the experiment was closed, as the end of a sentence. */
const closedTexts: Readonly<Record<Decision, string>> = {
  too_early: 'too early for a comparison',
  undecided: 'without a clear difference',
  better: 'with more revenue than the control',
  worse: 'with less revenue than the control',
  equivalent: 'with the same revenue as the control',
  no_decision: 'without a winner',
  exploratory: 'with figures for ideas only',
  invalid: 'with figures that must not be used',
};

/** Returns the word of the decision about an arm. Only an open experiment can be too early or being counted. */
export function decisionWordOf(decision: Decision, state: State): Word {
  const word = decisionWords[decision] ?? { text: decision, kind: '' };
  if (decision !== 'too_early') return word;
  if (state === 'closed') return decisionWords.undecided;
  // After its planned day, an experiment is too early only while the service counts earlier sessions.
  return state === 'final' ? { text: 'Being counted', kind: '' } : word;
}

/**
 * Returns the word of an experiment and the text of its state. The word is the decision of the figures, or, after the closing, the outcome
 * that the partner chose.
 */
export function describeStatus(
  { state, decision }: Pick<ExperimentResults, 'state' | 'decision'>,
  closing: Pick<Closing, 'outcome' | 'closed_at'> | null,
): { readonly word: Word; readonly text: string } {
  const word = decisionWordOf(decision, state);
  if (state !== 'closed') return { word, text: stateTexts[state] ?? state };
  // The definition was loaded before the closing, and the results after it.
  if (closing === null) return { word, text: 'Closed' };
  const { outcome, closed_at: closedAt } = closing;
  return {
    word: outcomeWords[outcome] ?? { text: outcome, kind: '' },
    text: `Closed on ${formatUtcDay(closedAt)}, ${closedTexts[decision] ?? decision}`,
  };
}
