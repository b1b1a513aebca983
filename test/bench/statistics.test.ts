import assert from 'node:assert/strict';
import { test } from 'node:test';
import { median, summarize } from '../../bench/statistics.ts';

test('the median is the middle value for an odd number of values in any order', () => {
  assert.equal(median([9, 1, 5]), 5);
  assert.equal(median([100, 20, 3]), 20);
});

test('the median is the mean of the two middle values for an even number of values', () => {
  assert.equal(median([4, 1, 2, 10]), 3);
});

test('a summary does not change the order of its input values', () => {
  const values = [3, 1, 2];
  assert.deepEqual(summarize(values), { median: 2, lowest: 1, highest: 3 });
  assert.deepEqual(values, [3, 1, 2]);
});
