import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limitPolicy, limitStatus } from '../../src/access/limit-status.ts';
import { limitHeaders } from '../../src/faces/limit-headers.ts';

test('the same figures stand in the customary headers and in those of the IETF draft', () => {
  const policy = limitPolicy('minute', 500, 60);
  const status = limitStatus(policy, `${policy.policyText}, "day";q=10000;w=86400`, 497, 59_500, 1_800_000_000_250);
  assert.deepEqual(limitHeaders(status).split('\r\n'), [
    '',
    'X-RateLimit-Limit: 500',
    'X-RateLimit-Remaining: 497',
    'X-RateLimit-Reset: 1800000060',
    'RateLimit-Policy: "minute";q=500;w=60, "day";q=10000;w=86400',
    'RateLimit: "minute";r=497;t=60',
  ]);
});

test('the moment of reset is rounded up, so that waiting for it is always enough', () => {
  const status = limitStatus(limitPolicy('minute', 5, 60), '', 0, 1_001, 1_800_000_000_000);
  assert.equal(status.resetEpochSeconds, 1_800_000_002);
  assert.equal(status.resetSeconds, 2);
});
