import assert from 'node:assert/strict';
import { test } from 'node:test';
import { estimateSessionMemory } from '../../../bench/curves/live-sessions-curve.ts';

const mebibyte = 2 ** 20;

test('computes the memory of a session as the slope, whatever memory the service uses without sessions', () => {
  const points = [1_000, 10_000, 100_000].map((sessions) => ({
    sessions,
    heapUsedMiB: 30 + (300 * sessions) / mebibyte,
    rssMiB: 200 + (450 * sessions) / mebibyte,
  }));
  const result = estimateSessionMemory(points, 6, 5_000)!;
  assert.equal(Math.round(result.heapBytes), 300);
  assert.equal(Math.round(result.residentBytes), 450);
  assert.deepEqual(result.points, points);
  assert.equal(result.sessionsMax, 5_000);
});

test('fits the line with the least squared error to points that are not on one line', () => {
  const heapUsedMiB = [1, 4, 4];
  const points = [0, 1, 2].map((sessions) => ({ sessions, heapUsedMiB: heapUsedMiB[sessions]!, rssMiB: 1 }));
  assert.equal(estimateSessionMemory(points, 6, 1)!.heapBytes, 1.5 * mebibyte);
});

test('returns no memory per session for a single point', () => {
  assert.equal(estimateSessionMemory([{ sessions: 1_000, heapUsedMiB: 30, rssMiB: 200 }], 6, 5_000), null);
});
