import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Decision, type DecisionInput, decideArm, decideExperiment } from '../../src/experiments/decide.ts';
import { type Comparison, createExperimentLooks } from '../../src/experiments/experiment-looks.ts';
import { comparisonOf, finalOf } from './comparisons.ts';

const running: DecisionInput = {
  isFilling: false,
  isInvalid: false,
  isRetrospective: false,
  minEffect: 0.1,
  looks: { isGateOpen: true, isPlanOver: false },
};
const over: DecisionInput = { ...running, looks: { isGateOpen: true, isPlanOver: true } };
const wide = comparisonOf(-0.2, 0.1, 0.4);
const narrow = comparisonOf(-0.04, 0.01, 0.06);
const better: Comparison = { ...wide, final: finalOf('better') };
const worse: Comparison = { ...wide, final: finalOf('worse') };
const [none] = createExperimentLooks(2).comparisons as [Comparison];

describe('decideArm', () => {
  it('follows the order invalid, exploratory, final decision, gate, equivalence, plan', () => {
    for (const [input, comparison, expected] of [
      [{ ...running, isInvalid: true, isRetrospective: true }, better, 'invalid'],
      [{ ...running, isRetrospective: true }, better, 'exploratory'],
      [{ ...running, isRetrospective: true }, none, 'exploratory'],
      [running, better, 'better'],
      [over, worse, 'worse'],
      [running, wide, 'undecided'],
      [over, wide, 'no_decision'],
      [running, narrow, 'equivalent'],
      [over, narrow, 'equivalent'],
      [{ ...running, minEffect: 0.05 }, narrow, 'undecided'],
      [{ ...running, minEffect: null }, narrow, 'undecided'],
      [running, comparisonOf(-0.2, -0.06, 0.08), 'undecided'],
      [running, comparisonOf(-0.08, 0.06, 0.2), 'undecided'],
      [running, none, 'undecided'],
    ] as const) {
      assert.equal(decideArm(input, comparison), expected);
    }
  });

  it('is too early before the gate opens, and without a decision if the plan ends before', () => {
    const looks = { isGateOpen: false, isPlanOver: false };
    assert.equal(decideArm({ ...running, looks }, none), 'too_early');
    assert.equal(decideArm({ ...running, looks: { ...looks, isPlanOver: true } }, none), 'no_decision');
  });
});

describe('decideExperiment', () => {
  it('is the first decision of its order that holds for an arm', () => {
    const order: readonly Decision[] = [
      'invalid',
      'exploratory',
      'too_early',
      'better',
      'no_decision',
      'undecided',
      'equivalent',
      'worse',
    ];
    for (const [index, decision] of order.entries()) {
      assert.equal(decideExperiment(order.slice(index).reverse()), decision);
    }
    assert.equal(decideExperiment(Array<Decision>(9).fill('worse')), 'worse');
  });
});
