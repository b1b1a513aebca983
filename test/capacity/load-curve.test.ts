import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LoadCurvePoint } from '../../bench/capacity/benchmark-result.ts';
import {
  findCpuMicrosPerRequest,
  findSustainedRate,
  interpolateMetric,
  wasClientSaturated,
} from '../../bench/capacity/load-curve.ts';

const pointAt = (
  rate: number,
  p99Ms: number,
  { achieved = rate, cpuMicros = 50, clientSaturated = false } = {},
): LoadCurvePoint => ({
  offeredPerSecond: rate,
  achievedPerSecond: achieved,
  p99Ms,
  cpuMicros,
  clientSaturated,
});
const curve = (...points: LoadCurvePoint[]) => ({ title: 'sample', points });
const plain = curve(
  pointAt(1_000, 2),
  pointAt(2_000, 4),
  pointAt(4_000, 24),
  pointAt(8_000, 900, { achieved: 4_500, cpuMicros: 80 }),
);

for (const [name, points, sloP99Ms, perSecond, isEndOfCurve] of [
  ['ends at the last point within the target', plain.points, 4, 2_000, false],
  ['interpolates between points', plain.points, 14, 3_000, false],
  ['ends the curve before a point at which the server did not keep up', plain.points, 60_000, 4_000, false],
  ['reports a curve that ends within the target', plain.points.slice(0, 2), 10, 2_000, true],
  ['returns 0 if the first point misses the target', plain.points, 1.9, 0, false],
  [
    'ignores faster points after a slower one',
    [pointAt(1_000, 2), pointAt(2_000, 20), pointAt(3_000, 3)],
    11,
    1_500,
    false,
  ],
] as const) {
  test(`findSustainedRate ${name}`, () => {
    assert.deepEqual(findSustainedRate(curve(...points), sloP99Ms), { perSecond, isEndOfCurve });
  });
}

test('findCpuMicrosPerRequest returns the lowest CPU time per request on the curve', () => {
  assert.equal(findCpuMicrosPerRequest(plain), 50);
  const busier = pointAt(3_000, 900, { achieved: 1_000, cpuMicros: 30 });
  assert.equal(findCpuMicrosPerRequest(curve(pointAt(1_000, 2, { cpuMicros: 90 }), pointAt(2_000, 4), busier)), 30);
});

test('interpolateMetric interpolates between points; outside the curve, it returns the value of the nearest point', () => {
  assert.equal(interpolateMetric(plain.points, 3_000, 'p99Ms'), 14);
  assert.equal(interpolateMetric(plain.points, 2_000, 'p99Ms'), 4);
  assert.equal(interpolateMetric(plain.points, 10, 'p99Ms'), 2);
  assert.equal(interpolateMetric(plain.points, 1e6, 'p99Ms'), 900);
});

test('wasClientSaturated checks the measured rates up to the given rate, and the next higher measured rate', () => {
  const saturated = curve(pointAt(1_000, 2), pointAt(2_000, 4), pointAt(3_000, 9, { clientSaturated: true }));
  assert.equal(wasClientSaturated(saturated, 2_000), true);
  assert.equal(wasClientSaturated(saturated, 3_000), true);
  assert.equal(wasClientSaturated(saturated, 1_500), false);
  assert.equal(wasClientSaturated(plain, 4_000), false);
});
