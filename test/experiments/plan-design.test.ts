import assert from 'node:assert/strict';
import { test } from 'node:test';
import { planDesign } from '../../src/experiments/plan-design.ts';
import { sumsOfSessions } from '../../src/statistics/arm-sums.ts';
import { planUnits } from '../../src/statistics/planning.ts';
import { type ArmEstimate, estimateArms } from '../../src/statistics/variance-floor.ts';
import { experimentWith, startsOn } from './experiment-fixture.ts';

const sums = { sessions: 20_000, unitsWithRevenue: 300, revenueMicros: 30_000e6, revenueCentsSquared: 5.6e10 };
const basis = { sums, sessionsPerDay: 500 };
const definitionWith = (more: Parameters<typeof experimentWith>[1] = {}, arms = 2) =>
  experimentWith(arms, more).definition;
/** Days from a day of sessions to the results in which the sessions are mature. */
const delay = 53;

test('needs the same number of units as the planning of the results', () => {
  const [page] = estimateArms([sumsOfSessions(sums)]) as [ArmEstimate];
  for (const endsOn of [null, startsOn + 699]) {
    for (const arms of [2, 4]) {
      const plan = planDesign(definitionWith({ endsOn, minEffectPercent: 20 }, arms), basis)!;
      const { unitsNeeded } = planUnits({
        arm: page,
        control: page,
        armWeight: 1,
        controlWeight: 1,
        comparisons: arms - 1,
        minEffect: 0.2,
        unitsPerDay: 1,
        daysToPlannedDay: endsOn === null ? null : 1_000,
      })!;
      assert.deepEqual(
        plan.arms.map((arm) => arm.unitsNeeded),
        Array(arms - 1).fill(unitsNeeded),
      );
    }
  }
});

test('finds the minimum effect on the day on which the last needed unit is mature', () => {
  const [arm] = planDesign(definitionWith({ minEffectPercent: 50 }), basis)!.arms;
  assert.equal(arm!.foundOn, startsOn + Math.ceil(arm!.unitsNeeded! / 250) - 1 + delay);
  const [small] = planDesign(definitionWith({ minEffectPercent: 1 }), basis)!.arms;
  assert.equal(small!.foundOn, null);
  const [large] = planDesign(definitionWith({ minEffectPercent: 1_000 }), basis)!.arms;
  assert.equal(large!.foundOn, startsOn + 13 + delay);
});

test('finds with a planned day the effects from the smallest one on', () => {
  const endsOn = startsOn + 41;
  const smallest = planDesign(definitionWith({ endsOn }), basis)!.arms[0]!.smallestEffect! * 100;
  const foundOn = (minEffectPercent: number) =>
    planDesign(definitionWith({ endsOn, minEffectPercent }), basis)!.arms[0]!.foundOn;
  assert.deepEqual([smallest * 0.99, smallest * 1.01].map(foundOn), [null, endsOn + delay]);
  assert.equal(planDesign(definitionWith(), basis)!.arms[0]!.smallestEffect, null);
});

test('shows the smallest effect of each planned day, for the arm with the smallest share', () => {
  const shares = [0.5, 0.3, 0.2].map((weight, index) => ({ referrerTag: `page-${'abc'[index]}`, weight, label: null }));
  const { outlook } = planDesign(definitionWith({ arms: shares, endsOn: null }), basis)!;
  for (const { days, endsOn, plannedDay, smallestEffect } of outlook) {
    assert.deepEqual([endsOn, plannedDay], [startsOn + days - 1, startsOn + days - 1 + delay]);
    const plan = planDesign(definitionWith({ arms: shares, endsOn }), basis)!;
    assert.equal(plan.arms[1]!.smallestEffect, smallestEffect);
    assert.ok(plan.arms[0]!.smallestEffect! < smallestEffect);
  }
  assert.equal(outlook.length, 7);
});

test('expects the first comparison after two weeks, or after 25 units with revenue in the smallest arm', () => {
  const firstComparison = (sessionsPerDay: number, more = {}) =>
    planDesign(definitionWith(more), { sums, sessionsPerDay })!.firstComparisonOn;
  assert.equal(firstComparison(1e6), startsOn + 13 + delay);
  // 1.5 % of 50 sessions a day have revenue in each arm.
  assert.equal(firstComparison(100), startsOn + Math.ceil(25 / 0.75) - 1 + delay);
  assert.equal(firstComparison(100, { endsOn: startsOn + 20 }), null);
  assert.equal(firstComparison(1), null);
});

test('estimates nothing without the figures of a page', () => {
  const none = [
    { ...basis, sessionsPerDay: 0 },
    { ...basis, sums: { ...sums, unitsWithRevenue: 24 } },
    { ...basis, sums: { sessions: 0, unitsWithRevenue: 0, revenueMicros: 0, revenueCentsSquared: 0 } },
    { ...basis, sums: { sessions: 30, unitsWithRevenue: 30, revenueMicros: 30e6, revenueCentsSquared: 30e4 } },
  ];
  for (const page of none) assert.equal(planDesign(definitionWith(), page), null);
});
