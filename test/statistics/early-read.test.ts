import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { drawStandardNormal, drawSuccesses } from '../../bench/population/random.ts';
import { type EarlyReadInput, readEarly } from '../../src/statistics/early-read.ts';
import { seededRandom } from '../support/random-catalog.ts';
import { assertClose } from './close-to.ts';

const ages = 8;

/** Weekly cohorts, the oldest first. The youngest has completed no age. */
function triangle(weeks: number, sessions: number, revenueUsd: (week: number, age: number) => number): EarlyReadInput {
  const cohorts = Array.from({ length: weeks }, (_, week) => ({
    sessions,
    revenueMicrosByAge: Array.from(
      { length: Math.min(ages, weeks - 1 - week) },
      (_, age) => revenueUsd(week, age) * 1e6,
    ),
  }));
  return { cohorts, finalAgeWeeks: ages, unitsWithRevenue: 60, revenueCentsSquared: 60 * 300 ** 2 };
}

describe('readEarly', () => {
  it('adds the revenue that cohorts of the same ages had', () => {
    // 8 + 7 + ... + 1 = 36 dollars per 100 sessions, in every week.
    const read = readEarly(triangle(12, 100, (_, age) => 8 - age))!;
    assertClose(read.value, 0.36);
    assertClose((read.low + read.high) / 2, read.value);
  });

  it('has the standard error of the missing payouts and of the estimated rates', () => {
    const weeks = 12;
    const read = readEarly(triangle(weeks, 100, (_, age) => 8 - age))!;
    let [variance, seenRevenue] = [0, 0];
    for (let age = 0; age < ages; age++) {
      const reached = weeks - 1 - age;
      const missingSessions = (weeks - reached) * 100;
      seenRevenue += reached * (8 - age);
      // A Poisson number of missing payouts, and the same for the payouts from which the rate was estimated.
      const [missing, estimated] = [
        (8 - age) * (missingSessions / 100),
        (8 - age) * reached * (missingSessions / (reached * 100)) ** 2,
      ];
      variance += missing + estimated;
    }
    const meanSquareOverMean = (60 * 3 ** 2) / seenRevenue;
    assertClose(read.high - read.value, (1.96 * Math.sqrt(variance * meanSquareOverMean)) / (weeks * 100));
  });

  it('contains the final revenue in about 95 % of simulated experiments', () => {
    const random = seededRandom(5);
    const weeks = 14;
    let covered = 0;
    for (let run = 0; run < 400; run++) {
      let [squares, payouts, finalMicros] = [0, 0, 0];
      const rows = Array.from({ length: weeks }, (_, week) =>
        Array.from({ length: ages }, (_, age) => {
          let micros = 0;
          for (let count = drawSuccesses(random, 2_000, 0.015 * (age < 4 ? 0.2 : 0.05)); count > 0; count--) {
            const payout = Math.round(100e6 * Math.exp(0.8 * drawStandardNormal(random) - 0.32));
            micros += payout;
            if (age < weeks - 1 - week) {
              payouts++;
              squares += (payout / 10_000) ** 2;
            }
          }
          finalMicros += micros;
          return micros;
        }),
      );
      const read = readEarly({
        cohorts: rows.map((row, week) => ({ sessions: 2_000, revenueMicrosByAge: row.slice(0, weeks - 1 - week) })),
        finalAgeWeeks: ages,
        unitsWithRevenue: payouts,
        revenueCentsSquared: squares,
      })!;
      const final = finalMicros / 1e6 / (weeks * 2_000);
      if (read.low <= final && final <= read.high) covered++;
    }
    // 95 %, less three standard errors of 400 runs.
    assert.ok(covered >= 400 * 0.917, `${covered} of 400`);
  });

  it('returns null with too few units with revenue, too few weeks, no revenue, or no missing revenue', () => {
    const usual = triangle(9, 100, () => 5);
    assert.notEqual(readEarly(usual), null);
    assert.equal(readEarly({ ...usual, unitsWithRevenue: 49 }), null);
    assert.equal(readEarly({ ...usual, cohorts: usual.cohorts.slice(1) }), null);
    assert.equal(readEarly(triangle(9, 100, () => 0)), null);
    assert.equal(readEarly(triangle(9, 0, () => 0)), null);
    assert.notEqual(readEarly({ ...usual, cohorts: usual.cohorts.slice(0, 2) }), null);
    assert.equal(readEarly({ ...usual, cohorts: usual.cohorts.slice(0, 1) }), null);
  });

  it('gives finite figures with reversals above the confirmations of an age', () => {
    const read = readEarly(triangle(10, 100, (_, age) => (age < 3 ? 50 : -8)))!;
    assert.ok(read.low >= 0 && read.low < read.value && Number.isFinite(read.high));
    assert.equal(readEarly(triangle(10, 100, () => -1)), null);
    assert.equal(readEarly(triangle(10, 100, (_, age) => (age === 0 ? 10 : age === 7 ? -20 : 0))), null);
  });
});
