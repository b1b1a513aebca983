import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  type ArmAtLook,
  addLook,
  createExperimentLooks,
  createLookPlan,
  type ExperimentLooks,
} from '../../src/experiments/experiment-looks.ts';
import { noUnits, sumsOfSessions } from '../../src/statistics/arm-sums.ts';

/** An arm with payouts of 50 and 150 USD, in equal numbers. */
function armWith(sessions: number, unitsWithRevenue: number, matureDays = 20): ArmAtLook {
  const sums = sumsOfSessions({
    sessions,
    unitsWithRevenue,
    revenueMicros: unitsWithRevenue * 100e6,
    revenueCentsSquared: unitsWithRevenue * ((5_000 ** 2 + 15_000 ** 2) / 2),
  });
  return { sums, matureDays };
}

const open = createLookPlan(2, null);
const planned = createLookPlan(2, 30);
const start = createExperimentLooks(2);
const even = [armWith(10_000, 150), armWith(10_000, 160)];
const clear = [armWith(10_000, 150), armWith(10_000, 300)];

/** Adds one look a day, from day 20 on. */
function lookDaily(plan: typeof open, days: readonly (readonly ArmAtLook[])[]): ExperimentLooks {
  return days.reduce((looks, arms, index) => addLook(looks, plan, 20 + index, arms), start);
}

describe('addLook', () => {
  it('has no figures while an arm has fewer than 25 units with revenue, or fewer than 14 mature days', () => {
    for (const arms of [
      [armWith(10_000, 24), armWith(10_000, 500)],
      [armWith(10_000, 500), armWith(10_000, 500, 13)],
      [{ sums: noUnits, matureDays: 0 }, armWith(10_000, 500)],
    ]) {
      const { isGateOpen, asOf, comparisons } = addLook(start, open, 20, arms);
      assert.deepEqual([isGateOpen, asOf, comparisons], [false, 20, start.comparisons]);
    }
    assert.equal(addLook(start, open, 20, [armWith(10_000, 25, 14), armWith(10_000, 25, 14)]).isGateOpen, true);
  });

  it('decides at the first interval that excludes 0, and keeps that decision', () => {
    const { comparisons } = lookDaily(open, [even, clear, even]);
    const { look, pValue, final } = comparisons[0]!;
    assert.deepEqual([final!.decision, final!.day], ['better', 21]);
    assert.ok(final!.look.difference.low > 0 && look!.difference.low < 0);
    assert.equal(pValue, final!.look.pValue);
    assert.ok(pValue! <= 0.05);
    assert.equal(lookDaily(open, [clear.toReversed(), clear]).comparisons[0]!.final!.decision, 'worse');
  });

  it('takes its last look on the planned day, with a plain interval', () => {
    const before = addLook(start, planned, 29, even);
    const last = addLook(before, planned, 30, even);
    assert.deepEqual([before.isPlanOver, last.isPlanOver], [false, true]);
    const width = ({ comparisons }: ExperimentLooks) =>
      comparisons[0]!.look!.difference.high - comparisons[0]!.look!.difference.low;
    assert.ok(width(last) < width(before) * 0.6);
    assert.equal(addLook(last, planned, 31, clear), last);
  });

  it('is over on the planned day even if the gate is closed', () => {
    const last = addLook(start, planned, 30, [armWith(100, 1), armWith(100, 2)]);
    assert.deepEqual([last.isGateOpen, last.isPlanOver], [false, true]);
    assert.equal(addLook(last, planned, 31, clear), last);
  });

  it('gives finite figures for ten arms of which one has earned nothing but 25 cents', () => {
    const plan = createLookPlan(10, null);
    const cents = sumsOfSessions({
      sessions: 500,
      unitsWithRevenue: 25,
      revenueMicros: 250_000,
      revenueCentsSquared: 25,
    });
    const arms = [...Array<ArmAtLook>(9).fill(armWith(10_000, 150)), { sums: cents, matureDays: 20 }];
    const { comparisons } = addLook(createExperimentLooks(10), plan, 20, arms);
    assert.equal(comparisons.length, 9);
    for (const { look } of comparisons) {
      for (const figure of [look!.difference.low, look!.difference.high, look!.pValue])
        assert.ok(Number.isFinite(figure));
    }
  });
});
