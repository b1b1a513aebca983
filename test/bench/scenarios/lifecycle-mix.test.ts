import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lifecycleMix, lifecycleRequestCounts } from '../../../bench/scenarios/lifecycle-scenario.ts';

test('a mix of many requests keeps the ratio', () => {
  assert.deepEqual(lifecycleRequestCounts(369), lifecycleMix);
  assert.equal(lifecycleRequestCounts(36_900).inputs, 13_000);
});

test('a small mix has something of everything, and both kinds of analytics', () => {
  const few = lifecycleRequestCounts(3);
  assert.ok(Object.values(few).every((count) => count > 0));
  assert.equal(few.analytics, 2);
});
