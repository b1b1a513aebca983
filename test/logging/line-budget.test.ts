import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TokenBucket } from '../../src/logging/request-logger.ts';

test('a budget gives what it holds at once, and then as many lines a second as it was made for', () => {
  const budget = new TokenBucket(5, 20, 1_000);
  const taken = (count: number, nowMs: number) =>
    Array.from({ length: count }, () => budget.take(nowMs)).filter(Boolean).length;
  assert.equal(taken(30, 1_000), 20);
  assert.equal(taken(30, 1_199), 0);
  assert.equal(taken(30, 1_200), 1);
  assert.equal(taken(30, 2_200), 5);
  assert.equal(taken(30, 1_000_000), 20);
});
