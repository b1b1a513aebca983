import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rateAtShare } from '../../../bench/curves/load-point.ts';

test('a rate is its share of saturation, whole, and never so low that a load has hardly a request', () => {
  assert.equal(rateAtShare(0.6, 12_345, 6), 7_407);
  assert.equal(rateAtShare(0.05, 30, 0.3), 67);
  assert.equal(rateAtShare(0.05, 0, 6), 4);
});
