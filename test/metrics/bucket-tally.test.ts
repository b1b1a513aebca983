import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import * as histogram from '../../src/metrics/histogram.ts';
import { type BucketBounds, BucketHistogram } from '../../src/metrics/histogram.ts';

test('a value lies in the bucket whose end it does not exceed, and in every larger one', () => {
  const tally = new BucketHistogram({ upperBounds: [10, 20], unitsPerPublishedUnit: 10 });
  for (const value of [0, 10, 11, 20, 21]) tally.observe(value);
  assert.deepEqual(tally.snapshot(), {
    count: 5,
    sum: 6.2,
    buckets: [
      { end: 1, count: 2 },
      { end: 2, count: 4 },
    ],
  });
});

test('series do not touch each other', () => {
  const tally = new BucketHistogram({ upperBounds: [10], unitsPerPublishedUnit: 1 }, 3);
  tally.observe(5, 1);
  tally.observe(50, 1);
  assert.deepEqual(
    [0, 1, 2].map((series) => tally.snapshot(series).count),
    [0, 2, 0],
  );
});

test('whatever is observed, every bucket holds what lies at or below its end', () => {
  const upperBounds = [1, 7, 100, 5_000];
  fc.assert(
    fc.property(fc.array(fc.nat(10_000)), (values) => {
      const tally = new BucketHistogram({ upperBounds, unitsPerPublishedUnit: 1 });
      for (const value of values) tally.observe(value);
      const { count, sum, buckets } = tally.snapshot();
      assert.equal(count, values.length);
      assert.equal(
        sum,
        values.reduce((total, value) => total + value, 0),
      );
      assert.deepEqual(
        buckets,
        upperBounds.map((end) => ({ end, count: values.filter((value) => value <= end).length })),
      );
    }),
  );
});

test('the ends of every scale ascend and are whole', () => {
  const scales = Object.entries(histogram).filter(([name]) => name.endsWith('Buckets')) as [string, BucketBounds][];
  assert.equal(scales.length, 6);
  for (const [name, { upperBounds }] of scales) {
    for (const [at, end] of upperBounds.entries())
      assert.ok(Number.isInteger(end) && end > (upperBounds[at - 1] ?? 0), name);
  }
});

test('the scale of requests tells apart what is fast, and what ran into the deadline', () => {
  const { upperBounds } = histogram.requestDurationBuckets;
  assert.ok(upperBounds.filter((end) => end <= 200).length >= 3);
  assert.ok(upperBounds.includes(2_000_000) && (upperBounds.at(-1) ?? 0) > 2_000_000);
});
