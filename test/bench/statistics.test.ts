import assert from 'node:assert/strict';
import { test } from 'node:test';
import { median, summarize } from '../../bench/statistics.ts';

test('the median of an odd number of values is the middle one, whatever their order', () => {
  assert.equal(median([9, 1, 5]), 5);
  assert.equal(median([100, 20, 3]), 20);
});

test('the median of an even number of values lies between the two middle ones', () => {
  assert.equal(median([4, 1, 2, 10]), 3);
});

test('a summary leaves the values as they were', () => {
  const values = [3, 1, 2];
  assert.deepEqual(summarize(values), { median: 2, lowest: 1, highest: 3 });
  assert.deepEqual(values, [3, 1, 2]);
});
