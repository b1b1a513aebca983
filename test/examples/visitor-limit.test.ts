import assert from 'node:assert/strict';
import { test } from 'node:test';
import { VisitorRateLimiter } from '../../examples/landing-page/web/visitor-rate-limiter.ts';

test('blocks an address until the end of its minute, and does not block other addresses', () => {
  const limit = new VisitorRateLimiter(2);
  assert.equal(limit.retryAfterSeconds('one', 0), 0);
  assert.equal(limit.retryAfterSeconds('one', 1_000), 0);
  assert.equal(limit.retryAfterSeconds('one', 1_500), 59);
  assert.equal(limit.retryAfterSeconds('other', 1_500), 0);
  assert.equal(limit.retryAfterSeconds('one', 59_999), 1);
  assert.equal(limit.retryAfterSeconds('one', 60_000), 0);
});

test('stores a limited number of addresses, and evicts the oldest', () => {
  const limit = new VisitorRateLimiter(1);
  for (let address = 0; address < 30_000; address++) assert.equal(limit.retryAfterSeconds(`address ${address}`, 0), 0);
  assert.equal(limit.retryAfterSeconds('address 29999', 0), 60);
  assert.equal(limit.retryAfterSeconds('address 0', 0), 0);
});
