import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { compareWithBaseline, createBaseline } from '../../../bench/check/baseline.ts';
import { groupRuns, type RepeatedRatio } from '../../../bench/check/ratios.ts';
import { seededRandom } from '../../../bench/population/random.ts';
import { logSpread, lossShareOf, lossThreshold, median } from '../../../bench/statistics.ts';
import { smallResult } from '../support/small-result.ts';

const better = fc.constantFrom('higher' as const, 'lower' as const);
const value = fc.double({ min: 1e-3, max: 1e4, noNaN: true });
const values = fc.array(value, { minLength: 1, maxLength: 9 });
const figure = fc.record({ better, values }).map((each): RepeatedRatio => ({ ...each, name: 'a', part: 'p' }));
const conditions = { storedAt: '', commit: null, machine: smallResult.machine, runs: 5 };

function baselineOf(measured: RepeatedRatio) {
  return createBaseline([measured], conditions).figures;
}

/** Returns the ratio with its values multiplied by a factor of speed. */
function spedUp({ better: which, ...rest }: RepeatedRatio, middle: number, factor: number): RepeatedRatio {
  return { ...rest, better: which, values: [which === 'higher' ? middle * factor : middle / factor] };
}

test('reports every loss beyond the threshold as a loss, and not as a gain', () => {
  const beyond = fc.double({ min: 0.001, max: 0.999, noNaN: true });
  fc.assert(
    fc.property(figure, beyond, (measured, share) => {
      const baseline = baselineOf(measured);
      const { median: middle, threshold } = baseline[0]!;
      const left = (1 - threshold) * (1 - share);
      const { losses, gains } = compareWithBaseline(baseline, [spedUp(measured, middle, left)]);
      assert.deepEqual([losses.length, gains.length], [1, 0]);
    }),
  );
});

test('reports every gain beyond the threshold as a gain, and not as a loss', () => {
  fc.assert(
    fc.property(figure, fc.double({ min: 1.001, max: 100, noNaN: true }), (measured, factor) => {
      const baseline = baselineOf(measured);
      const { median: middle, threshold } = baseline[0]!;
      const { losses, gains } = compareWithBaseline(baseline, [spedUp(measured, middle, factor / (1 - threshold))]);
      assert.deepEqual([losses.length, gains.length], [0, 1]);
    }),
  );
});

test('reports neither a loss nor a gain within the noise', () => {
  fc.assert(
    fc.property(figure, fc.double({ min: -0.999, max: 0.999, noNaN: true }), (measured, place) => {
      const baseline = baselineOf(measured);
      const { median: middle, threshold } = baseline[0]!;
      // A random value between the largest loss and the largest gain that must not be reported.
      const factor = (1 - threshold) ** place;
      const { losses, gains, unchanged } = compareWithBaseline(baseline, [spedUp(measured, middle, factor)]);
      assert.deepEqual([losses.length, gains.length, unchanged], [0, 0, 1]);
    }),
  );
});

test('reports no loss for the runs from which the baseline was computed', () => {
  fc.assert(
    fc.property(figure, (measured) => {
      assert.equal(compareWithBaseline(baselineOf(measured), [measured]).unchanged, 1);
    }),
  );
});

test('returns the same result for any order of the runs', () => {
  const runs = fc.array(fc.record({ a: value, b: value }), { minLength: 1, maxLength: 7 });
  const shuffled = runs.chain((some) =>
    fc.tuple(fc.constant(some), fc.shuffledSubarray(some, { minLength: some.length })),
  );
  fc.assert(
    fc.property(shuffled, better, ([some, others], which) => {
      const judged = (each: typeof some) => {
        const figures = each.map((run) =>
          (['a', 'b'] as const).map((name) => ({ name, part: 'p', better: which, value: run[name] })),
        );
        return createBaseline(groupRuns(figures), conditions);
      };
      assert.deepEqual(judged(some), judged(others));
    }),
  );
});

test('computes a spread of 0 and a positive threshold for equal runs', () => {
  assert.equal(logSpread([2, 2, 2]), 0);
  assert.equal(logSpread([2]), 0);
  assert.equal(lossThreshold(0), 0.08);
});

test('does not widen the threshold for a single outlier', () => {
  assert.equal(logSpread([1, 1, 1, 1, 90]), 0);
});

test('estimates the spread of the distribution from any number of runs', () => {
  const random = seededRandom(1);
  const normal = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  for (const runs of [2, 3, 4, 5, 6, 9, 15]) {
    const spreads = Array.from({ length: 4_000 }, () =>
      logSpread(Array.from({ length: runs }, () => Math.exp(0.05 * normal()))),
    );
    const mean = spreads.reduce((sum, spread) => sum + spread, 0) / spreads.length;
    assert.ok(Math.abs(mean - 0.05) < 0.003, `${runs} runs: ${mean}`);
    assert.ok(median(spreads) > 0);
  }
});

test('reports half the speed as a loss, however much the runs differ', () => {
  fc.assert(
    fc.property(values, (some) => {
      const threshold = lossThreshold(logSpread(some));
      assert.ok(threshold >= 0.08 && threshold <= 0.5);
    }),
  );
});

test('reports half the throughput and twice the cost as the same loss', () => {
  assert.equal(lossShareOf('higher', 0.4, 0.2), 0.5);
  assert.equal(lossShareOf('lower', 3, 6), 0.5);
});
