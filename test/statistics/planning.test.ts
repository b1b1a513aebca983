import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { noUnits, sumsOfSessions } from '../../src/statistics/arm-sums.ts';
import { type PlanningInput, planUnits } from '../../src/statistics/planning.ts';
import { type ArmEstimate, estimateArms } from '../../src/statistics/variance-floor.ts';
import { assertClose, integrate } from './close-to.ts';

const sums = sumsOfSessions({
  sessions: 20_000,
  unitsWithRevenue: 300,
  revenueMicros: 30_000e6,
  revenueCentsSquared: 5.6e10,
});
const [arm, empty] = estimateArms([sums, noUnits]) as [ArmEstimate, ArmEstimate];
const usual: PlanningInput = {
  arm,
  control: arm,
  armWeight: 1,
  controlWeight: 1,
  comparisons: 1,
  minEffect: 0.2,
  unitsPerDay: 100,
  daysToPlannedDay: null,
};
/** Variance of one session. */
const variance = 277.75;

/** Power of a two-sided normal test at 5 %, by integration. */
function powerOf(effect: number, standardError: number): number {
  const shift = effect / standardError;
  return integrate((z) => Math.exp(-((z - shift) ** 2) / 2) / Math.sqrt(2 * Math.PI), 1.959964, shift + 12);
}

describe('planUnits', () => {
  it('needs units for a power of 80 %, times 1.8 without and 1.08 with a planned day', () => {
    for (const [daysToPlannedDay, factor] of [
      [null, 1.8],
      [10_000, 1.08],
    ] as const) {
      const { unitsNeeded, smallestEffect } = planUnits({ ...usual, daysToPlannedDay })!;
      const units = unitsNeeded / factor;
      assert.ok(Math.abs(powerOf(0.3, Math.sqrt((2 * variance) / units)) - 0.8) < 0.001);
      assertClose(unitsNeeded, (factor * 7.849 * 2 * variance) / 0.3 ** 2, 3);
      assert.equal(smallestEffect, null);
    }
  });

  it('counts the days until the units are there', () => {
    const { unitsNeeded, unitsLeft, daysLeft } = planUnits(usual)!;
    assert.equal(unitsLeft, unitsNeeded - 20_000);
    assert.equal(daysLeft, Math.ceil(unitsLeft / 100));
    assert.equal(planUnits({ ...usual, unitsPerDay: 0 })!.daysLeft, null);
    const enough = planUnits({ ...usual, minEffect: 2, unitsPerDay: 0 })!;
    assert.deepEqual([enough.unitsLeft, enough.daysLeft], [0, 0]);
  });

  it('gives the smallest effect that can be found by the planned day', () => {
    const { smallestEffect } = planUnits({ ...usual, daysToPlannedDay: 100 })!;
    const { unitsNeeded } = planUnits({ ...usual, minEffect: smallestEffect!, daysToPlannedDay: 10_000 })!;
    assert.ok(Math.abs(unitsNeeded - 30_000) <= 1);
    assert.ok(smallestEffect! > usual.minEffect);
  });

  it('needs fewer units of a small arm than of a large arm, and the same variance of the difference', () => {
    const small = planUnits({ ...usual, controlWeight: 9 })!.unitsNeeded;
    const large = planUnits({ ...usual, armWeight: 9 })!.unitsNeeded;
    assertClose(large / small, 9, 3);
    const equal = planUnits(usual)!.unitsNeeded;
    assertClose(1 / small + 1 / (9 * small), 2 / equal, 3);
  });

  it('needs more units for several arms', () => {
    // (z(1 - 0.025 / 3) + z(0.8)) ** 2, from tables.
    assertClose(
      planUnits({ ...usual, comparisons: 3 })!.unitsNeeded,
      (1.8 * (2.39398 + 0.84162) ** 2 * 2 * variance) / 0.09,
      3,
    );
  });

  it('returns null if nothing is known about the spread of an arm', () => {
    const unpaid = sumsOfSessions({ sessions: 500, unitsWithRevenue: 0, revenueMicros: 0, revenueCentsSquared: 0 });
    const [usualArm, withoutRevenue] = estimateArms([sums, unpaid]) as [ArmEstimate, ArmEstimate];
    assert.equal(planUnits({ ...usual, arm: withoutRevenue, control: usualArm }), null);
  });

  it('returns null without units or revenue of the control', () => {
    assert.equal(planUnits({ ...usual, control: empty }), null);
    assert.equal(planUnits({ ...usual, arm: empty }), null);
    assert.equal(planUnits({ ...usual, control: { ...arm, mean: -1 } }), null);
  });
});
