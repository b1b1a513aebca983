import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LoadPoint } from '../../src/capacity/measurements.ts';
import {
  costAtFullLoad,
  findSustainedRate,
  interpolateAt,
  wasClientSaturated,
} from '../../src/capacity/measurements.ts';

const at = (
  rate: number,
  p99Ms: number,
  { achieved = rate, cpuMicros = 50, clientSaturated = false } = {},
): LoadPoint => ({
  offeredPerSecond: rate,
  achievedPerSecond: achieved,
  p99Ms,
  cpuMicros,
  clientSaturated,
});
const curve = (...points: LoadPoint[]) => ({ title: 'made up', points });
const plain = curve(at(1_000, 2), at(2_000, 4), at(4_000, 24), at(8_000, 900, { achieved: 4_500, cpuMicros: 80 }));

test('the rate within an SLO lies on the straight line between the points around it', () => {
  assert.deepEqual(findSustainedRate(plain, 4), { perSecond: 2_000, endOfCurve: false });
  assert.deepEqual(findSustainedRate(plain, 14), { perSecond: 3_000, endOfCurve: false });
});

test('a point at which the server did not keep up ends the curve before it, however patient the SLO', () => {
  assert.deepEqual(findSustainedRate(plain, 60_000), { perSecond: 4_000, endOfCurve: false });
});

test('a curve that ends within the SLO counts up to its end only, and says so', () => {
  assert.deepEqual(findSustainedRate(curve(at(1_000, 2), at(2_000, 4)), 10), { perSecond: 2_000, endOfCurve: true });
});

test('no rate is within an SLO that the first point misses', () => {
  assert.deepEqual(findSustainedRate(plain, 1.9), { perSecond: 0, endOfCurve: false });
});

test('what comes back within the SLO after a slower point is not counted on', () => {
  assert.equal(findSustainedRate(curve(at(1_000, 2), at(2_000, 20), at(3_000, 3)), 11).perSecond, 1_500);
});

test('a request under full load costs the least that one cost on the curve', () => {
  assert.equal(costAtFullLoad(plain), 50);
  const busier = at(3_000, 900, { achieved: 1_000, cpuMicros: 30 });
  assert.equal(costAtFullLoad(curve(at(1_000, 2, { cpuMicros: 90 }), at(2_000, 4), busier)), 30);
});

test('a figure between two points lies on their line, and beyond the ends is that of the end', () => {
  assert.equal(interpolateAt(plain.points, 3_000, 'p99Ms'), 14);
  assert.equal(interpolateAt(plain.points, 2_000, 'p99Ms'), 4);
  assert.equal(interpolateAt(plain.points, 10, 'p99Ms'), 2);
  assert.equal(interpolateAt(plain.points, 1e6, 'p99Ms'), 900);
});

test('a client that gave out up to the point behind the rate is told, one that did so later is not', () => {
  const tired = curve(at(1_000, 2), at(2_000, 4), at(3_000, 9, { clientSaturated: true }));
  assert.equal(wasClientSaturated(tired, 2_000), true);
  assert.equal(wasClientSaturated(tired, 3_000), true);
  assert.equal(wasClientSaturated(tired, 1_500), false);
  assert.equal(wasClientSaturated(plain, 4_000), false);
});
