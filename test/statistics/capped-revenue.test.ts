import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { addSums, noUnits } from '../../src/statistics/arm-sums.ts';
import { capRevenue, countLargestUnits, largestPayoutShare } from '../../src/statistics/capped-revenue.ts';
import { assertClose } from './close-to.ts';
import { type RawUnit, sumUnits } from './raw-units.ts';

/** An arm with units without revenue, and units with these revenues in USD, in two sessions each. */
function armWith(withoutRevenue: number, revenues: readonly number[]) {
  const paid: RawUnit[] = revenues.map((usd) => ({ revenueMicros: usd * 1e6, sessions: 2 }));
  const unpaid: RawUnit[] = Array.from({ length: withoutRevenue }, () => ({ revenueMicros: 0, sessions: 1 }));
  return { sums: sumUnits([...paid, ...unpaid]), unitsWithRevenue: paid };
}

describe('capRevenue', () => {
  const first = armWith(
    500,
    Array.from({ length: 100 }, (_, index) => index + 1),
  );
  const second = armWith(500, [...Array.from({ length: 99 }, (_, index) => index + 1), 100_000]);

  it('counts revenue above the pooled 99th percentile as the percentile', () => {
    const { capMicros, arms } = capRevenue([first, second])!;
    // The 198th of 200 revenues.
    assert.equal(capMicros, 99e6);
    const capped = [first, second].map(({ unitsWithRevenue }) =>
      addSums(
        sumUnits(unitsWithRevenue.map((unit) => ({ ...unit, revenueMicros: Math.min(unit.revenueMicros, 99e6) }))),
        { ...noUnits, units: 500, sessions: 500, sessionsSquared: 500 },
      ),
    );
    assert.deepEqual(arms, capped);
  });

  it('needs only the units that count in the cap', () => {
    const units = [first, second].map(({ unitsWithRevenue }) => unitsWithRevenue.toReversed());
    const largest = units.flat().sort((a, b) => b.revenueMicros - a.revenueMicros);
    const kept = largest.slice(0, countLargestUnits(200));
    const arms = [first, second].map(({ sums }, index) => ({
      sums,
      unitsWithRevenue: kept.filter((unit) => units[index]!.includes(unit)),
    }));
    assert.equal(kept.length, 3);
    assert.deepEqual(capRevenue(arms), capRevenue([first, second]));
  });

  it('gives the share of revenue above the cap', () => {
    const { shareCut } = capRevenue([first, second])!;
    assertClose(shareCut, (1 + 100_000 - 99) / (2 * 4_950 + 100 + 100_000));
  });

  it('cuts nothing if all revenues are equal', () => {
    const equal = armWith(10, Array<number>(150).fill(20));
    assert.deepEqual(capRevenue([equal, equal]), { capMicros: 20e6, shareCut: 0, arms: [equal.sums, equal.sums] });
  });

  it('returns null with fewer than 200 units with revenue', () => {
    assert.equal(capRevenue([first, armWith(0, Array<number>(99).fill(5)), armWith(3, [])]), null);
    assert.equal(capRevenue([]), null);
  });
});

describe('largestPayoutShare', () => {
  it('is the share of the largest payout, and null without revenue', () => {
    assert.equal(largestPayoutShare(25e6, 100e6), 0.25);
    assert.equal(largestPayoutShare(0, 0), null);
    assert.equal(largestPayoutShare(5e6, -5e6), null);
    // Reversals can reduce the revenue below the largest payout.
    assert.equal(largestPayoutShare(25e6, 20e6), 1);
  });
});
