import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decisions } from '../../src/experiments/decide.ts';
import { experimentOutcomes, experimentStates } from '../../src/experiments/experiment.ts';
import { decisionWordOf, describeStatus } from '../../src/web/console/partner/experiment-words.ts';

const closedAt = '2026-11-27T12:00:00.000Z';
const spaced = (text: string) => text.replaceAll(/(?<=\d) | (?=\d|UTC)/g, '\u00a0');

/** Word of each decision: in an experiment that runs or waits for revenue, after its planned day, and at an arm of a closed experiment. */
const words: Readonly<Record<(typeof decisions)[number], readonly [running: string, final: string, closed: string]>> = {
  invalid: ['Do not use bad', 'Do not use bad', 'Do not use bad'],
  exploratory: ['For ideas only warn', 'For ideas only warn', 'For ideas only warn'],
  too_early: ['Too early', 'Being counted', 'Undecided'],
  better: ['Better good', 'Better good', 'Better good'],
  no_decision: ['No winner', 'No winner', 'No winner'],
  undecided: ['Undecided', 'Undecided', 'Undecided'],
  equivalent: ['Same', 'Same', 'Same'],
  worse: ['Worse bad', 'Worse bad', 'Worse bad'],
};

/** Text of the state of a closed experiment after its day, by the decision of its last figures. */
const closedTexts: Readonly<Record<(typeof decisions)[number], string>> = {
  invalid: 'with figures that must not be used',
  exploratory: 'with figures for ideas only',
  too_early: 'too early for a comparison',
  better: 'with more revenue than the control',
  no_decision: 'without a winner',
  undecided: 'without a clear difference',
  equivalent: 'with the same revenue as the control',
  worse: 'with less revenue than the control',
};

/** Word of a closed experiment by its outcome. */
const outcomes: Readonly<Record<(typeof experimentOutcomes)[number], string>> = {
  ship: 'Ship an arm good',
  keep_control: 'Keep the control',
  no_decision: 'No decision',
  broken: 'Broken: do not use bad',
};

const show = ({ text, kind }: ReturnType<typeof decisionWordOf>) => `${text} ${kind}`.trim();

test('an open experiment has the word of its decision, and the text of its state', () => {
  const states = { running: 'Running', maturing: 'Waiting for revenue', final: 'Final' } as const;
  assert.deepEqual([...Object.keys(states), 'closed'], experimentStates);
  for (const decision of decisions) {
    for (const state of ['running', 'maturing', 'final'] as const) {
      const { word, text } = describeStatus({ state, decision }, null);
      const expected = words[decision][state === 'final' ? 1 : 0];
      assert.deepEqual([show(word), text], [expected, states[state]], `${state} ${decision}`);
      assert.equal(show(decisionWordOf(decision, state)), expected);
    }
  }
});

test('describes a closed experiment by its outcome and the decision of its figures', () => {
  for (const decision of decisions) {
    for (const outcome of experimentOutcomes) {
      const { word, text } = describeStatus({ state: 'closed', decision }, { outcome, closed_at: closedAt });
      const closed = `Closed on ${spaced('27 Nov 2026 UTC')}, ${closedTexts[decision]}`;
      assert.deepEqual([show(word), text], [outcomes[outcome], closed], `${outcome} ${decision}`);
    }
    assert.equal(show(decisionWordOf(decision, 'closed')), words[decision][2]);
  }
});

test('shows the values of a newer server, and an experiment whose closing is not loaded yet', () => {
  const unknown = { state: 'paused', decision: 'likely' } as never;
  assert.deepEqual(describeStatus(unknown, null), { word: { text: 'likely', kind: '' }, text: 'paused' });
  const closed = describeStatus({ state: 'closed', decision: 'better' }, null);
  assert.deepEqual([show(closed.word), closed.text], ['Better good', 'Closed']);
});
