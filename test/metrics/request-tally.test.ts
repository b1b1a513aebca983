import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RequestCounter } from '../../src/metrics/metrics.ts';

test('counts answers by route and status, and shows those there were', () => {
  const tally = new RequestCounter(['other', 'session']);
  tally.record(1, 200, 90);
  tally.record(1, 200, 110);
  tally.record(1, 503, 2_000_000);
  tally.record(0, 404, 10);
  tally.record(0, 599, 10);
  assert.deepEqual(
    [...tally.counts()],
    [
      { route: 'other', status: 404, count: 1 },
      { route: 'other', status: 599, count: 1 },
      { route: 'session', status: 200, count: 2 },
      { route: 'session', status: 503, count: 1 },
    ],
  );
});

test('sorts durations by route', () => {
  const tally = new RequestCounter(['other', 'session']);
  tally.record(1, 200, 90);
  tally.record(1, 503, 2_000_001);
  const { count, sum, buckets } = tally.durations.snapshot(1);
  assert.equal(count, 2);
  assert.equal(sum, 2.000091);
  assert.equal(buckets.find(({ end }) => end === 0.0001)?.count, 1);
  assert.equal(buckets.find(({ end }) => end === 2)?.count, 1);
  assert.equal(buckets.at(-1)?.count, 2);
  assert.equal(tally.durations.snapshot(0).count, 0);
});
