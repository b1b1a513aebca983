import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { linearTicks, logarithmicTicks } from '../../../bench/report/browser/ticks.ts';
import { formatShort } from '../../../bench/report/formatting.ts';

test('generates a few axis labels in ascending order within the range of the axis', () => {
  const ends = fc.tuple(fc.double({ min: 1e-3, max: 1e6, noNaN: true }), fc.double({ min: 5, max: 1e6, noNaN: true }));
  fc.assert(
    fc.property(ends, ([low, factor]) => {
      const high = low * factor;
      for (const ticks of [logarithmicTicks(low, high), linearTicks(low, high, [0.5], 6)]) {
        assert.ok(ticks.length >= 1 && ticks.length <= 12, String(ticks));
        assert.ok(
          ticks.every((tick, at) => tick >= low && tick <= high * 1.000001 && (at === 0 || tick > ticks[at - 1]!)),
        );
      }
    }),
  );
});

test('labels every number on an axis of a few small whole numbers', () => {
  assert.deepEqual(linearTicks(-0.1, 3.1, [0, 1, 2, 3], 6), [0, 1, 2, 3]);
});

test('shortens the numbers of an axis', () => {
  assert.deepEqual([0, 0.25, 3, 40_000, 1_500_000].map(formatShort), ['0', '0.25', '3', '40k', '1.5M']);
});
