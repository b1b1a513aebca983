import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { computeMeanInterval, intervalOfMean } from '../../src/statistics/mean-interval.ts';
import { assertClose } from './close-to.ts';

describe('computeMeanInterval', () => {
  const few = { units: 1_000, unitsWithRevenue: 25, revenue: 1_000, revenueSquared: 50_000 };

  it('returns the mean times and divided by exp(1.96 standard errors over the mean)', () => {
    // Two groups whose variance of the mean was computed independently, to eight decimals.
    for (const [sums, mean, variance] of [
      [{ units: 20_000, unitsWithRevenue: 300, revenue: 30_000, revenueSquared: 5.6e6 }, 1.5, 0.01388819],
      [{ units: 20_000, unitsWithRevenue: 372, revenue: 38_000, revenueSquared: 7.4e6 }, 1.9, 0.01832042],
    ] as const) {
      const { low, high } = computeMeanInterval(sums)!;
      assertClose(low * high, mean ** 2);
      const standardError = (mean * Math.log(high / low)) / (2 * 1.96);
      assert.equal((standardError ** 2).toFixed(8), variance.toFixed(8));
    }
  });

  it('computes the variance of the mean as for a sample of single units', () => {
    // 25 units of 10 and 75 of 0: mean 2.5, sample variance (25 * 100 - 100 * 2.5 ** 2) / 99.
    const { low, high } = computeMeanInterval({
      units: 100,
      unitsWithRevenue: 25,
      revenue: 250,
      revenueSquared: 2_500,
    })!;
    const standardError = Math.sqrt((2_500 - 625) / 99 / 100);
    assertClose(high, 2.5 * Math.exp((1.96 * standardError) / 2.5));
    assertClose(low, 2.5 * Math.exp((-1.96 * standardError) / 2.5));
    assert.ok(low > 0);
  });

  it('returns null below 25 units with revenue, and if their number is unknown', () => {
    assert.notEqual(computeMeanInterval(few), null);
    for (const unitsWithRevenue of [24, 1, 0, null]) {
      assert.equal(computeMeanInterval({ ...few, unitsWithRevenue }), null);
    }
  });

  it('returns null without revenue', () => {
    assert.equal(computeMeanInterval({ ...few, revenue: 0, revenueSquared: 0 }), null);
    assert.equal(computeMeanInterval({ units: 0, unitsWithRevenue: 0, revenue: 0, revenueSquared: 0 }), null);
  });

  it('returns null if all units have the same revenue, even if the squares were rounded down', () => {
    for (const revenueSquared of [4, 0]) {
      const interval = computeMeanInterval({ units: 100, unitsWithRevenue: 100, revenue: 20, revenueSquared });
      assert.equal(interval, null);
    }
    assert.notEqual(
      computeMeanInterval({ units: 100, unitsWithRevenue: 100, revenue: 20, revenueSquared: 4.01 }),
      null,
    );
  });
});

describe('intervalOfMean', () => {
  it('gives the interval of the revenue per session of visitors', () => {
    const { low, high } = intervalOfMean({ unitsWithRevenue: 30, mean: 2, variance: 0.25 })!;
    assertClose(low, 2 * Math.exp(-0.49));
    assertClose(high, 2 * Math.exp(0.49));
  });

  it('returns null if reversals leave a mean near 0', () => {
    assert.equal(intervalOfMean({ unitsWithRevenue: 30, mean: 1e-6, variance: 1 }), null);
    assert.equal(intervalOfMean({ unitsWithRevenue: 30, mean: -1, variance: 1 }), null);
  });
});
