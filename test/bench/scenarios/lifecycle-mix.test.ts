import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lifecycleMix, lifecycleRequests } from '../../../bench/scenarios/lifecycle-mix.ts';

test('a mix of many requests keeps the ratio', () => {
  assert.deepEqual(lifecycleRequests(369), lifecycleMix);
  assert.equal(lifecycleRequests(36_900).inputs, 13_000);
});

test('a small mix has something of everything, and both kinds of analytics', () => {
  const few = lifecycleRequests(3);
  assert.ok(Object.values(few).every((count) => count > 0));
  assert.equal(few.analytics, 2);
});
