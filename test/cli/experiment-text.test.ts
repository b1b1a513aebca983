import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { formatResults } from '../../src/cli/commands/experiment-text.ts';
import { assembleResults } from '../../src/experiments/assemble-results.ts';
import type { Experiment } from '../../src/experiments/experiment.ts';
import { experimentWith, figuresOf, type RawSession } from '../experiments/experiment-fixture.ts';

/** Results after 30 days with 50 sessions for each arm, two of them with revenue. `change` changes the sessions of the arms after the first. */
function formatAfter(experiment: Experiment, asOf: number, change: Partial<RawSession> = {}): string {
  const sessions = experiment.definition.arms.flatMap((_, arm) =>
    Array.from({ length: 1_500 }, (_, index): RawSession => {
      const session = { arm, day: index % 30, usd: [80, 120][Math.floor(index / 30)] ?? 0, clicks: 1, views: 1 };
      return arm === 0 ? session : { ...session, ...change };
    }),
  );
  return stripVTControlCharacters(
    formatResults(assembleResults(experiment, figuresOf(experiment, asOf, sessions)).results),
  );
}

test('prints the sentence of the results first, then the arms, the comparisons and the warnings', () => {
  assert.deepEqual(formatAfter(experimentWith(2), 90, { clicks: 0 }).split('\n'), [
    'hero-test: undecided (running, results up to 2027-04-01 UTC)',
    '',
    'No difference shown yet: B earns between 46 % less and 85 % more per session',
    'than A. You may look every day; the interval allows for it.',
    '',
    'SESSIONS  MATURE  WITH REVENUE  USD/SESSION  ARM',
    '1500      1500    60            4.0000       * A (page-a)',
    '1500      1500    60            4.0000         B (page-b)',
    '* control',
    '',
    'DECISION   USD/SESSION  INTERVAL           PERCENT  P VALUE  ARM',
    'undecided  0.0000       -2.2768 to 2.2768  0.0      1.0000   page-b',
    '',
    'Warnings:',
    '- clicks_per_session of B (page-b) is worse: 0.0000, and 1.0000 in the control',
    '  (difference -1.0672 to -0.9328).',
  ]);
});

test('results without a mature session have no numbers', () => {
  const text = formatAfter(experimentWith(2), 20);
  assert.match(
    text,
    /\ntoo_early {2}- +- +- +- +page-b\n\nWarnings:\n- none: the split is as intended, and no guardrail is worse$/,
  );
});

test('results show a p value below 0.0001 as a limit', () => {
  const session = (arm: number, index: number): RawSession => ({ arm, day: index % 30, usd: arm * 100 + (index % 2) });
  const experiment = experimentWith(2);
  const sessions = [0, 1].flatMap((arm) => Array.from({ length: 300 }, (_, index) => session(arm, index)));
  const { results } = assembleResults(experiment, figuresOf(experiment, 90, sessions));
  assert.match(formatResults(results), /\nbetter .* <0\.0001 +page-b\n/);
});

test('results fit into 80 columns, and long names keep their ends', () => {
  const { definition, ...experiment } = experimentWith(3, { unit: 'visitor', assignment: 'hash', endsOn: 20_900 });
  const arms = definition.arms.map((arm, index) => ({
    ...arm,
    label: index === 0 ? `Seite \u202e${'ä'.repeat(100)}` : null,
    referrerTag: index === 0 ? arm.referrerTag : `${'long-tag-'.repeat(6)}-${index}`,
  }));
  const text = formatAfter({ ...experiment, name: 'n'.repeat(64), definition: { ...definition, arms } }, 90, {
    clicks: 0,
    usd: 100_000,
  });
  for (const line of text.split('\n')) assert.ok([...line].length <= 80 || !line.includes(' '), line);
  assert.ok(!text.includes('\u202e'));
  assert.match(text, / long-tag-\S*\.\.\.\S*-1\n.* long-tag-\S*\.\.\.\S*-2\n/);
});
