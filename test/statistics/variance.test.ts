import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { type ArmSums, addSums, noUnits, revenuePerSession, sumsOfSessions } from '../../src/statistics/arm-sums.ts';
import { varianceOfRatio } from '../../src/statistics/delta-method.ts';
import { estimateArms } from '../../src/statistics/variance-floor.ts';
import { assertClose, assertRounded } from './close-to.ts';
import { type RawUnit, sessionsWith, sumUnits } from './raw-units.ts';

/** Revenue in whole cents, often 0. */
const rawUnits = fc.array(
  fc.record({
    revenueMicros: fc.oneof(
      fc.constant(0),
      fc.integer({ min: 0, max: 1_000_000 }).map((cents) => cents * 10_000),
    ),
    sessions: fc.integer({ min: 1, max: 5 }),
  }),
  { minLength: 2, maxLength: 60 },
);

/** The definition: each unit's deviation from its share of the ratio. */
function slowVariance(units: readonly RawUnit[]): number {
  const sessions = units.reduce((sum, unit) => sum + unit.sessions, 0);
  const mean = units.reduce((sum, unit) => sum + unit.revenueMicros / 1e6, 0) / sessions;
  const squares = units.reduce((sum, unit) => sum + (unit.revenueMicros / 1e6 - mean * unit.sessions) ** 2, 0);
  return squares / (units.length - 1) / units.length / (sessions / units.length) ** 2;
}

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

describe('varianceOfRatio', () => {
  it('gives the variance of revenue per session of visitors', () => {
    const revenues = [0, 0, 0, 0, 100, 0, 0, 60, 0, 40];
    const sums = sumUnits(
      revenues.map((usd, index) => ({ revenueMicros: usd * 1e6, sessions: index < 6 ? 1 : index < 9 ? 2 : 3 })),
    );
    const [estimate] = estimateArms([sums]);
    assertRounded(estimate!.mean, '13.3333333');
    assertRounded(estimate!.variance, '53.9917695');
  });

  it('agrees with the deviations of the single units', () => {
    fc.assert(
      fc.property(rawUnits, (units) => {
        const variance = varianceOfRatio(revenuePerSession(sumUnits(units)));
        const slow = slowVariance(units);
        // The deviations of the largest possible revenue.
        assert.ok(Math.abs(variance - slow) <= 1e-9 * slow + 1e-12 * 10_000 ** 2, `${variance} is not ${slow}`);
      }),
    );
  });

  it('is 0 without a second unit, without a difference between units, and if squares were rounded down', () => {
    for (const units of [[], sessionsWith(5), sessionsWith(0.1, 0.1, 0.1, 0.1), sessionsWith(0.004, 0.004)]) {
      assert.equal(varianceOfRatio(revenuePerSession(sumUnits(units))), 0);
    }
  });

  it('is 0 if all units are the same, whatever the rounding errors are', () => {
    const unit = fc.record({
      cents: fc.integer({ min: 1, max: 10_000_000 }),
      sessions: fc.integer({ min: 1, max: 7 }),
    });
    fc.assert(
      fc.property(unit, fc.integer({ min: 2, max: 1_000 }), ({ cents, sessions }, count) => {
        const units = Array<RawUnit>(count).fill({ revenueMicros: cents * 10_000, sessions });
        assert.equal(varianceOfRatio(revenuePerSession(sumUnits(units))), 0);
      }),
    );
  });

  it('adds up over days', () => {
    fc.assert(
      fc.property(rawUnits, rawUnits, (first, second) => {
        assert.deepEqual(addSums(sumUnits(first), sumUnits(second)), sumUnits([...first, ...second]));
      }),
    );
  });
});

describe('estimateArms', () => {
  it('raises the variance of an arm with smaller payouts to the floor', () => {
    const [estimate, other] = estimateArms([control, arm]);
    assertRounded(estimate!.variance, '0.01388819');
    assertRounded(estimate!.flooredVariance, '0.01439306');
    assertRounded(other!.variance, '0.01832042');
    assert.equal(other!.flooredVariance, other!.variance);
  });

  it('agrees with the floor of the single payouts', () => {
    fc.assert(
      fc.property(fc.array(rawUnits, { minLength: 2, maxLength: 4 }), (arms) => {
        const estimates = estimateArms(arms.map(sumUnits));
        const payouts = arms.map((units) => units.flatMap(({ revenueMicros: y }) => (y > 0 ? [y / 1e6] : [])));
        const meanOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
        const all = meanOf(payouts.flat().map((y) => y ** 2));
        const allRelative = meanOf(payouts.flatMap((own) => own.map((y) => (y / meanOf(own)) ** 2)));
        for (const [index, { variance, flooredVariance }] of estimates.entries()) {
          const own = payouts[index]!;
          if (own.length === 0) assert.equal(flooredVariance, variance);
          else {
            const ownSquare = meanOf(own.map((y) => y ** 2));
            assertClose(
              flooredVariance,
              variance * Math.max(1, all / ownSquare, (allRelative * meanOf(own) ** 2) / ownSquare),
            );
          }
        }
      }),
    );
  });

  it('returns finite figures for arms without units, without revenue, and with revenue below 0', () => {
    const extremes: ArmSums[] = [
      noUnits,
      sumUnits(sessionsWith(0)),
      sumUnits(sessionsWith(0, 0, 0)),
      sumUnits(sessionsWith(100_000)),
      sumUnits(sessionsWith(0, 0, 0, 100_000)),
      sumUnits(sessionsWith(0.004, 0.004, 0)),
      sumUnits(sessionsWith(7, 7, 7, 7)),
      sumUnits(sessionsWith(-50, 0, 20)),
      { ...noUnits, revenueMicros: -5e6, revenueCentsSquared: 250_000 },
    ];
    const estimates = estimateArms(extremes);
    for (const estimate of estimates) {
      for (const figure of Object.values(estimate)) assert.ok(Number.isFinite(figure), JSON.stringify(estimate));
      assert.ok(estimate.flooredVariance >= estimate.variance && estimate.variance >= 0);
    }
    assert.equal(estimates[7]!.mean, -10);
  });

  it('keeps the digits of a large experiment', () => {
    // A billion sessions, and 90,000 payouts of 100,000 USD, near the limit of the integers in the store.
    const [estimate] = estimateArms([
      sumsOfSessions({ sessions: 1e9, unitsWithRevenue: 90_000, revenueMicros: 9e15, revenueCentsSquared: 9e4 * 1e14 }),
    ]);
    assert.equal(estimate!.mean, 9);
    assertClose(estimate!.variance, (900_000 - 81) / (1e9 - 1), 12);
  });
});
