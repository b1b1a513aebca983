import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TSchema } from 'typebox';
import { type Decision, decisions } from '../../src/experiments/decide.ts';
import { describeClosing } from '../../src/experiments/describe-closing.ts';
import { describeExperiment } from '../../src/experiments/describe-experiment.ts';
import { type ExperimentClosing, experimentStates } from '../../src/experiments/experiment.ts';
import type { ExperimentFindings } from '../../src/experiments/experiment-findings.ts';
import type { Comparison } from '../../src/experiments/experiment-looks.ts';
import { experimentResultsSchema } from '../../src/experiments/experiment-results.ts';
import type { Planning } from '../../src/statistics/planning.ts';
import { armOf, comparisonOf, dayOf, finalOf, findingsOf, lookOf, noComparison } from '../experiments/comparisons.ts';
import { experimentWith } from '../experiments/experiment-fixture.ts';
import { withoutCodeBlocks } from '../support/documents.ts';
import { checkout } from './run-commands.ts';

const page = readFileSync(join(checkout, 'docs/experiments.md'), 'utf8');
const quotedSentences = [...page.matchAll(/^> (.+)$/gm)].map(([, sentence]) => sentence!);

const wide = comparisonOf(-0.09, 0.12, 0.41);
const better = finalOf('better');
const worse = finalOf('worse');
const isBetter: Comparison = { ...wide, look: better.look, final: better };
const isWorse: Comparison = { ...wide, look: worse.look, final: worse };
const unknownRelative: Comparison = {
  ...wide,
  look: { ...wide.look!, relative: null, difference: { low: -0.1556, value: 0.4, high: 0.9556 } },
};

const sentenceOf = (decision: Decision, comparison: Comparison, more: Partial<ExperimentFindings> = {}) =>
  describeExperiment(findingsOf([decision], [comparison], more));

const closedGate = { asOf: dayOf('2027-03-01'), isGateOpen: false, isPlanOver: false, comparisons: [noComparison] };
const planOver = { ...closedGate, isPlanOver: true };
const tooEarly = (more: Partial<ExperimentFindings>) =>
  sentenceOf('too_early', noComparison, { looks: closedGate, ...more });
const empty = ['A', 'B'].map((name) => armOf(name, { matureUnits: 0, unitsWithRevenue: 0, matureDays: 0 }));
const fewUnits = [
  armOf('A', { unitsWithRevenue: 30, matureUnits: 900 }),
  armOf('B', { unitsWithRevenue: 14, matureDays: 11, matureUnits: 900 }),
];
const noUnits = armOf('B', { unitsWithRevenue: 0 });

const undecided = (more: Partial<ExperimentFindings> = {}) => sentenceOf('undecided', wide, more);
const plannings = (more: Partial<Planning>) => [
  { unitsNeeded: 5_000, unitsLeft: 2_000, daysLeft: null, smallestEffect: null, ...more },
];

const invalid = (more: Partial<ExperimentFindings>) => sentenceOf('invalid', wide, more);
const split = (arms: ExperimentFindings['arms'], unit: ExperimentFindings['unit'] = 'visitor') =>
  describeExperiment(
    findingsOf(Array(arms.length - 1).fill('invalid'), Array(arms.length - 1).fill(wide), {
      arms,
      unit,
      invalidReason: { kind: 'split' },
    }),
  );
const [splitA, splitB] = [armOf('A', { units: 5_812 }), armOf('B', { units: 5_204 })];
const noUnitId = invalid({ invalidReason: { kind: 'no unit', share: 0.072 } });

const closed = (closing: Pick<ExperimentClosing, 'outcome' | 'arm'>, sentence: string) =>
  describeClosing(
    experimentWith(2).definition,
    { note: null, results: {}, closedMs: Date.UTC(2027, 2, 5), keyNumber: 1, ...closing },
    { as_of: '2027-03-04', sentence },
  );

/** Sentences of the service that a partner can get, by the section of the page. */
const sentences = [
  // too_early
  tooEarly({ arms: empty }),
  tooEarly({ arms: empty, firstMatureDay: dayOf('2027-03-09') }),
  tooEarly({
    arms: [armOf('A', { matureUnits: 100, unitsWithRevenue: 2 }), armOf('B', { unitsWithRevenue: 0, matureUnits: 90 })],
  }),
  tooEarly({ arms: fewUnits }),
  tooEarly({ arms: fewUnits, unit: 'visitor' }),
  tooEarly({ arms: [armOf('A'), armOf('B', { matureDays: 9 })] }),
  tooEarly({ arms: [armOf('A'), noUnits] }),
  tooEarly({ fillProgress: 0.4 }),
  // undecided
  undecided(),
  undecided({ plannedDay: null, minEffect: 0.1, plannings: plannings({ daysLeft: 34 }) }),
  undecided({ plannings: plannings({ smallestEffect: 0.24 }) }),
  undecided({ plannedDay: null, minEffect: 0.02, plannings: plannings({ daysLeft: 4_000 }) }),
  sentenceOf('undecided', unknownRelative, { plannedDay: null, capUsd: 500 }),
  sentenceOf('undecided', noComparison),
  // better, worse
  sentenceOf('better', isBetter),
  sentenceOf('worse', isWorse),
  sentenceOf('better', { ...isBetter, look: lookOf(-0.03, 0.2, 0.4) }),
  // equivalent
  sentenceOf('equivalent', comparisonOf(-0.03, 0.01, 0.04)),
  // no_decision
  sentenceOf('no_decision', comparisonOf(-0.09, 0.04, 0.18)),
  sentenceOf('no_decision', comparisonOf(-1, 0.5, 8)),
  sentenceOf('no_decision', noComparison, { arms: fewUnits, looks: planOver }),
  sentenceOf('no_decision', noComparison),
  // exploratory
  sentenceOf('exploratory', comparisonOf(0.04, 0.27, 0.55)),
  sentenceOf('exploratory', noComparison),
  // invalid
  split([splitA, splitB]),
  split(
    [
      { ...splitA, weight: 0.6 },
      { ...splitB, weight: 0.4 },
    ],
    'session',
  ),
  split([splitA, splitB, armOf('C', { units: 0 })]),
  invalid({ invalidReason: { kind: 'several arms', arm: 'B', share: 0.123 } }),
  noUnitId,
  // closed
  closed({ outcome: 'ship', arm: 'page-b' }, sentenceOf('better', isBetter)),
  closed({ outcome: 'broken', arm: null }, noUnitId),
  // several arms
  describeExperiment(findingsOf(['better', 'worse', 'undecided'], [isBetter, isWorse, wide])),
  describeExperiment(findingsOf(['worse', 'equivalent', 'undecided'], [isWorse, wide, wide], { plannedDay: null })),
  describeExperiment(findingsOf(['better', 'better'], [isBetter, isBetter])),
  describeExperiment(findingsOf(['worse', 'no_decision'], [isWorse, wide])),
];

test('the sentences that the guide quotes are sentences of the service', () => {
  assert.deepEqual(quotedSentences, sentences);
});

test('the guide has a section for each decision, and explains each state', () => {
  const headings = [...page.matchAll(/^### (.+)$/gm)].flatMap(([, heading]) =>
    [...heading!.matchAll(/`(\w+)`/g)].map(([, word]) => word!),
  );
  assert.deepEqual(headings.sort(), [...decisions].sort());
  for (const state of experimentStates) assert.ok(page.includes(`| \`${state}\` |`), state);
});

/** Returns the names of all members of a schema, also of nested objects. */
function memberNamesOf(schema: TSchema): string[] {
  const {
    properties,
    items,
    anyOf = [],
  } = schema as {
    readonly properties?: Readonly<Record<string, TSchema>>;
    readonly items?: TSchema;
    readonly anyOf?: readonly TSchema[];
  };
  const nested = [...Object.values(properties ?? {}), ...(items === undefined ? [] : [items]), ...anyOf];
  return [...Object.keys(properties ?? {}), ...nested.flatMap(memberNamesOf)];
}

test('the guide mentions each member of the results', () => {
  const names = new Set(memberNamesOf(experimentResultsSchema));
  assert.ok(names.size > 50, `${names.size}`);
  const code = [...withoutCodeBlocks(page).matchAll(/`([^`]+)`/g)].flatMap(([, text]) => text!.split(/\W+/));
  assert.deepEqual(
    [...names].filter((name) => !code.includes(name)),
    [],
  );
});
