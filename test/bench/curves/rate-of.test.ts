import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rateAtShare } from '../../../bench/curves/load-point.ts';

test('rounds a share of saturation to a whole rate with a minimum', () => {
  assert.equal(rateAtShare(0.6, 12_345, 6), 7_407);
  assert.equal(rateAtShare(0.05, 30, 0.3), 67);
  assert.equal(rateAtShare(0.05, 0, 6), 4);
});
