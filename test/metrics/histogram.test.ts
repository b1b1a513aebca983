import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import * as histograms from '../../src/metrics/histogram.ts';
import { type BucketBounds, BucketHistogram } from '../../src/metrics/histogram.ts';

test('counts a value in every bucket whose upper bound it does not exceed', () => {
  const histogram = new BucketHistogram({ upperBounds: [10, 20], unitsPerPublishedUnit: 10 });
  for (const value of [0, 10, 11, 20, 21]) histogram.observe(value);
  assert.deepEqual(histogram.snapshot(), {
    count: 5,
    sum: 6.2,
    buckets: [
      { end: 1, count: 2 },
      { end: 2, count: 4 },
    ],
  });
});

test('counts each series of a histogram separately', () => {
  const histogram = new BucketHistogram({ upperBounds: [10], unitsPerPublishedUnit: 1 }, 3);
  histogram.observe(5, 1);
  histogram.observe(50, 1);
  assert.deepEqual(
    [0, 1, 2].map((series) => histogram.snapshot(series).count),
    [0, 2, 0],
  );
});

test('cumulative bucket counts are correct for any list of values', () => {
  const upperBounds = [1, 7, 100, 5_000];
  fc.assert(
    fc.property(fc.array(fc.nat(10_000)), (values) => {
      const histogram = new BucketHistogram({ upperBounds, unitsPerPublishedUnit: 1 });
      for (const value of values) histogram.observe(value);
      const { count, sum, buckets } = histogram.snapshot();
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

test('upper bounds of all bucket lists are ascending integers', () => {
  const lists = Object.entries(histograms).filter(([name]) => name.endsWith('Buckets')) as [string, BucketBounds][];
  assert.equal(lists.length, 6);
  for (const [name, { upperBounds }] of lists) {
    for (const [index, end] of upperBounds.entries())
      assert.ok(Number.isInteger(end) && end > (upperBounds[index - 1] ?? 0), name);
  }
});
