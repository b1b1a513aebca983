import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lifecycleMix, lifecycleRequestCounts } from '../../../bench/scenarios/lifecycle-scenario.ts';

test('keeps the ratios of the routes in a mix of many requests', () => {
  assert.deepEqual(lifecycleRequestCounts(369), lifecycleMix);
  assert.equal(lifecycleRequestCounts(36_900).inputs, 13_000);
});

test('includes every route, and analytics summaries and rows, in a small mix', () => {
  const few = lifecycleRequestCounts(3);
  assert.ok(Object.values(few).every((count) => count > 0));
  assert.equal(few.analytics, 2);
});
