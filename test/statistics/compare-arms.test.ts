import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { noUnits, sumsOfSessions } from '../../src/statistics/arm-sums.ts';
import { compareArms } from '../../src/statistics/compare-arms.ts';
import {
  mixtureTime,
  sequenceMultiplier,
  sequencePValue,
  tuneSequence,
} from '../../src/statistics/confidence-sequence.ts';
import { normalQuantileOfUpperTail } from '../../src/statistics/distributions.ts';
import { createLookRule } from '../../src/statistics/look-rule.ts';
import { type ArmEstimate, estimateArms } from '../../src/statistics/variance-floor.ts';
import { assertClose, assertRounded, bisect, integrate } from './close-to.ts';
import { sessionsWith, sumUnits } from './raw-units.ts';

const control = sumsOfSessions({
  sessions: 20_000,
  unitsWithRevenue: 300,
  revenueMicros: 30_000e6,
  revenueCentsSquared: 5.6e10,
});
const arm = sumsOfSessions({
  sessions: 20_000,
  unitsWithRevenue: 372,
  revenueMicros: 38_000e6,
  revenueCentsSquared: 7.4e10,
});

/** Tuning and multiplier at 150 units for 1 to 9 comparisons, without and with a planned day, and the multiplier on that day. */
const multipliers = [
  ['8.211968', '3.035122', '11.756371', '3.571606', '2.053749'],
  ['9.752938', '3.279167', '13.253648', '3.775400', '2.326348'],
  ['10.643431', '3.412247', '14.123837', '3.888938', '2.474740'],
  ['11.271318', '3.503044', '14.739076', '3.967250', '2.575829'],
  ['11.756371', '3.571606', '15.215163', '4.026806', '2.652070'],
  ['12.151521', '3.626503', '15.603471', '4.074736', '2.713052'],
  ['12.484852', '3.672173', '15.931326', '4.114769', '2.763741'],
  ['12.773062', '3.711208', '16.215005', '4.149097', '2.807034'],
  ['13.026890', '3.745249', '16.464988', '4.179113', '2.844763'],
] as const;

/** Widths in relation to an interval for one look at 5 %, and at 1 %, by units with revenue per arm. */
const relativeWidths = [
  [25, '1.757', '1.531'],
  [50, '1.612', '1.430'],
  [75, '1.571', '1.402'],
  [100, '1.556', '1.391'],
  [150, '1.549', '1.387'],
  [200, '1.551', '1.388'],
  [300, '1.563', '1.396'],
  [400, '1.576', '1.405'],
  [500, '1.587', '1.412'],
  [627, '1.600', '1.421'],
  [1000, '1.629', '1.440'],
  [1368, '1.650', '1.454'],
  [2000, '1.676', '1.471'],
  [5000, '1.741', '1.515'],
  [10000, '1.791', '1.548'],
] as const;

describe('confidence sequence', () => {
  it('has the known multipliers for 1 to 9 comparisons', () => {
    for (const [index, [tuning, multiplier, plannedTuning, beforePlanned, planned]] of multipliers.entries()) {
      const open = createLookRule(index + 1, false);
      assertRounded(open.tuning, tuning);
      assertRounded(sequenceMultiplier(mixtureTime(open.tuning, 150, 150), open.alpha), multiplier);
      assert.equal(open.plannedMultiplier, null);
      const dated = createLookRule(index + 1, true);
      assertRounded(dated.tuning, plannedTuning);
      assertRounded(sequenceMultiplier(mixtureTime(dated.tuning, 150, 150), dated.alpha), beforePlanned);
      assertRounded(dated.plannedMultiplier!, planned);
    }
  });

  it('has the known width in relation to an interval for one look', () => {
    for (const [units, at5, at1] of relativeWidths) {
      for (const [alpha, expected] of [
        [0.05, at5],
        [0.01, at1],
      ] as const) {
        const multiplier = sequenceMultiplier(mixtureTime(tuneSequence(alpha), units, units), alpha);
        assertRounded(multiplier / normalQuantileOfUpperTail(alpha / 2), expected);
      }
    }
  });

  it('is narrowest at 150 units', () => {
    for (const alpha of [0.05, 0.01, 0.05 / 9]) {
      const tuning = tuneSequence(alpha);
      assertClose(
        tuning,
        bisect((x) => x > Math.log1p(x) - 2 * Math.log(alpha), 1, 100),
      );
      const tuned = sequenceMultiplier(tuning, alpha);
      for (const other of [0.5, 0.9, 0.99, 1.01, 1.1, 2]) assert.ok(sequenceMultiplier(tuning * other, alpha) > tuned);
    }
  });

  it('has the p value of a mixture of likelihood ratios over normal effects', () => {
    for (const [time, z] of [
      [0.5, 1],
      [8, 2.5],
      [18, -2.2],
      [40, 4],
    ] as const) {
      const mixture = integrate(
        (effect) => Math.exp(effect * z - effect ** 2 / 2 - effect ** 2 / 2 / time) / Math.sqrt(2 * Math.PI * time),
        -60,
        60,
      );
      assertClose(sequencePValue(time, z), Math.min(1, 1 / mixture));
    }
  });

  it('has the p value alpha at the limits of the interval', () => {
    for (const alpha of [0.05, 0.01, 0.05 / 9]) {
      for (const time of [0.1, 1, 8, 500]) assertClose(sequencePValue(time, sequenceMultiplier(time, alpha)), alpha);
    }
  });

  it('counts the harmonic mean of the units with revenue', () => {
    assertClose(mixtureTime(1, 300, 372) * 150, 332.1428571, 8);
    assert.equal(mixtureTime(1, 0, 372), 0);
  });
});

describe('compareArms', () => {
  const [controlEstimate, armEstimate] = estimateArms([control, arm]) as [ArmEstimate, ArmEstimate];

  it('gives the interval, the relative difference and the p value of a worked example', () => {
    const look = compareArms(armEstimate, controlEstimate, createLookRule(1, false), false)!;
    assertRounded(look.difference.value, '0.4000');
    assertRounded(look.difference.low, '-0.1556');
    assertRounded(look.difference.high, '0.9556');
    assertRounded(look.pValue, '0.43129');
    assertRounded(look.relative!.value + 1, '1.2667');
    assertRounded(look.relative!.low + 1, '0.9105');
    assertRounded(look.relative!.high + 1, '1.7856');
  });

  it('is wider before the planned day, and a plain interval on it', () => {
    const rule = createLookRule(1, true);
    const before = compareArms(armEstimate, controlEstimate, rule, false)!;
    assertRounded(before.difference.low, '-0.2518');
    assertRounded(before.difference.high, '1.0518');
    assert.equal(before.pValue, 1);
    const planned = compareArms(armEstimate, controlEstimate, rule, true)!;
    assertRounded(planned.difference.low, '0.0285');
    assertRounded(planned.difference.high, '0.7715');
    assertRounded(planned.pValue, '0.0337473');
  });

  const estimates = fc.record({
    sessions: fc.integer({ min: 2_000, max: 100_000 }),
    unitsWithRevenue: fc.integer({ min: 25, max: 2_000 }),
    meanPayout: fc.integer({ min: 50, max: 200 }),
    spread: fc.integer({ min: 1, max: 9 }),
  });

  it('excludes 0 exactly if the relative interval excludes 0 and the p value is at most 0.05', () => {
    fc.assert(
      fc.property(
        fc.array(estimates, { minLength: 2, maxLength: 5 }),
        fc.boolean(),
        fc.boolean(),
        (arms, dated, planned) => {
          const [first, ...others] = estimateArms(
            arms.map(({ sessions, unitsWithRevenue, meanPayout, spread }) =>
              sumsOfSessions({
                sessions,
                unitsWithRevenue,
                revenueMicros: unitsWithRevenue * meanPayout * 1e6,
                revenueCentsSquared: unitsWithRevenue * meanPayout ** 2 * 10_000 * spread,
              }),
            ),
          );
          const rule = createLookRule(others.length, dated);
          for (const other of others) {
            const { difference, relative, pValue } = compareArms(other, first!, rule, dated && planned)!;
            const excludes0 = difference.low > 0 || difference.high < 0;
            assert.equal(pValue <= 0.05, excludes0);
            if (relative !== null) assert.equal(relative.low > 0 || relative.high < 0, excludes0);
          }
        },
      ),
    );
  });

  it('gives the relative difference whose products with the control differ from the arm by the multiplier', () => {
    const { relative } = compareArms(armEstimate, controlEstimate, createLookRule(1, true), true)!;
    const isCompatible = (ratio: number) =>
      Math.abs(armEstimate.mean - ratio * controlEstimate.mean) <=
      2.0537489106318225 * Math.sqrt(armEstimate.flooredVariance + ratio ** 2 * controlEstimate.flooredVariance);
    assertClose(relative!.low + 1, bisect(isCompatible, 0, armEstimate.mean / controlEstimate.mean));
    assertClose(
      relative!.high + 1,
      bisect((ratio) => !isCompatible(ratio), armEstimate.mean / controlEstimate.mean, 20),
    );
  });

  it('has no relative difference if the mean of the control may be 0, and none below -100 %', () => {
    const rule = createLookRule(1, false);
    const [uncertain, other] = estimateArms([
      sumUnits(sessionsWith(...Array<number>(99).fill(0), 1_000)),
      sumUnits(sessionsWith(...Array<number>(90).fill(0), ...Array<number>(10).fill(100))),
    ]) as [ArmEstimate, ArmEstimate];
    assert.equal(compareArms(other, uncertain, rule, false)!.relative, null);
    const uncertainControl = { ...controlEstimate, mean: -1 };
    assert.equal(compareArms(armEstimate, uncertainControl, rule, false)!.relative, null);
    const noisy = { ...armEstimate, flooredVariance: 1 };
    const { difference, relative } = compareArms(noisy, controlEstimate, rule, false)!;
    assert.ok(difference.low < -controlEstimate.mean);
    assert.equal(relative!.low, -1);
  });

  it('returns null if an arm has no revenue, or if its units do not differ', () => {
    const rule = createLookRule(1, false);
    for (const sums of [
      noUnits,
      sumUnits(sessionsWith(0)),
      sumUnits(sessionsWith(0, 0)),
      sumUnits(sessionsWith(-5, 0, -1)),
    ]) {
      const [empty, other] = estimateArms([sums, control]) as [ArmEstimate, ArmEstimate];
      assert.equal(compareArms(empty, other, rule, false), null);
      assert.equal(compareArms(other, empty, rule, false), null);
    }
    const [one, two] = estimateArms([sumUnits(sessionsWith(7, 7, 7)), sumUnits(sessionsWith(8, 8, 8))]);
    assert.equal(compareArms(one!, two!, rule, false), null);
    assert.equal(compareArms(one!, controlEstimate, rule, false), null);
    assert.equal(compareArms(armEstimate, one!, rule, false), null);
  });

  it('gives finite figures for one payout of 100,000 USD, and for ten arms', () => {
    const arms = Array.from({ length: 10 }, (_, index) =>
      sumUnits(
        sessionsWith(...Array<number>(500).fill(0), ...Array<number>(25).fill(5), ...(index === 3 ? [100_000] : [0])),
      ),
    );
    const [first, ...others] = estimateArms(arms);
    for (const other of others) {
      const { difference, pValue, relative } = compareArms(other, first!, createLookRule(9, false), false)!;
      assert.ok([difference.low, difference.high, pValue].every(Number.isFinite));
      assert.ok(difference.low < 0 && difference.high > 0);
      assert.equal(relative, null);
    }
  });
});
