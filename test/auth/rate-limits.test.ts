import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createKeyPolicies, createLimitStatus, rateLimitHeaders } from '../../src/auth/rate-limits.ts';

const policies = createKeyPolicies({ requestsPerMinute: 500, analyticsPerMinute: 50, sessionsPerDay: 10_000 });

test('formats the customary headers and those of the IETF draft', () => {
  const status = createLimitStatus(policies.forSessions.requests, 497, 59_500, 1_800_000_000_250);
  assert.deepEqual(rateLimitHeaders(status).split('\r\n'), [
    '',
    'X-RateLimit-Limit: 500',
    'RateLimit-Policy: "minute";q=500;w=60, "day";q=10000;w=86400',
    'X-RateLimit-Remaining: 497',
    'X-RateLimit-Reset: 1800000060',
    'RateLimit: "minute";r=497;t=60',
  ]);
});

test('formats the limit of the policy', () => {
  const headersOf = (policy: Parameters<typeof createLimitStatus>[0]) =>
    rateLimitHeaders(createLimitStatus(policy, 1, 0, 0));
  for (const [policy, limit, name] of [
    [policies.requests, 500, 'minute'],
    [policies.forAnalytics.requests, 500, 'minute'],
    [policies.forAnalytics.analytics, 50, 'analytics'],
    [policies.forSessions.sessions, 10_000, 'day'],
  ] as const) {
    assert.match(headersOf(policy), new RegExp(`X-RateLimit-Limit: ${limit}\\r\\n[^]*RateLimit: "${name}";r=1;t=0$`));
  }
});

test('rounds the time of the reset up', () => {
  const status = createLimitStatus(policies.requests, 0, 1_001, 1_800_000_000_000);
  assert.equal(status.resetEpochSeconds, 1_800_000_002);
  assert.equal(status.resetSeconds, 2);
});
