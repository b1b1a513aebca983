import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type ArmUnits, splitChiSquareP, splitLogMartingale } from '../../src/statistics/split-check.ts';
import { seededRandom } from '../support/random-catalog.ts';
import { assertRounded } from './close-to.ts';

const arms = (units: readonly number[], weights: readonly number[]): ArmUnits[] =>
  units.map((count, index) => ({ units: count, weight: weights[index]! }));

const third = 1 / 3;

describe('splitLogMartingale', () => {
  it('has the known values', () => {
    for (const [units, weights, expected] of [
      [[5_200, 4_800], [0.5, 0.5], '5.613613'],
      [[910, 90], [0.9, 0.1], '-0.644582'],
      [[3_500, 3_250, 3_250], [third, third, third], '1.518096'],
      [[120, 0], [0.5, 0.5], '34.362823'],
    ] as const) {
      assertRounded(splitLogMartingale(arms(units, weights)), expected);
      // Weights need not add up to 1.
      assertRounded(
        splitLogMartingale(
          arms(
            units,
            weights.map((weight) => weight * 70),
          ),
        ),
        expected,
      );
    }
  });

  it('is the product of the odds of the single units, each predicted from those before', () => {
    const random = seededRandom(1);
    const weights = [0.6, 0.3, 0.1];
    const counts = [0, 0, 0];
    let logOdds = 0;
    for (let total = 0; total < 3_000; total++) {
      const draw = random();
      const arm = draw < 0.55 ? 0 : draw < 0.9 ? 1 : 2;
      logOdds += Math.log((100 * weights[arm]! + counts[arm]!) / (100 + total) / weights[arm]!);
      counts[arm]!++;
      if (total % 100 === 0) assert.ok(Math.abs(splitLogMartingale(arms(counts, weights)) - logOdds) < 1e-9);
    }
  });

  it('is 0 without units', () => {
    assert.ok(Math.abs(splitLogMartingale(arms([0, 0], [0.5, 0.5]))) < 1e-12);
  });
});

describe('splitChiSquareP', () => {
  it('has the known values', () => {
    for (const [units, weights, expected] of [
      [[5_200, 4_800], [0.5, 0.5], 6.334e-5],
      [[910, 90], [0.9, 0.1], 0.2918],
      [[3_500, 3_250, 3_250], [third, third, third], 0.00193],
      [[120, 0], [0.5, 0.5], 6.326e-28],
    ] as const) {
      const p = splitChiSquareP(arms(units, weights))!;
      assert.equal(Number(p.toPrecision(String(expected).includes('193') ? 3 : 4)), expected);
    }
  });

  it('is null without units', () => {
    assert.equal(splitChiSquareP(arms([0, 0], [0.5, 0.5])), null);
  });
});
