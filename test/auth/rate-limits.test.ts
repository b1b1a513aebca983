import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createRateLimitPolicies, createRateLimitStatus, rateLimitHeaders } from '../../src/auth/rate-limits.ts';

describe('rateLimitHeaders', () => {
  const policies = createRateLimitPolicies({ requestsPerMinute: 500, analyticsPerMinute: 50, sessionsPerDay: 10_000 });

  test('formats the X-RateLimit headers and the headers of the IETF draft', () => {
    const status = createRateLimitStatus(policies.sessions.perMinute, 497, 59_500, 1_800_000_000_250);
    assert.deepEqual(rateLimitHeaders(status).split('\r\n'), [
      '',
      'X-RateLimit-Limit: 500',
      'RateLimit-Policy: "minute";q=500;w=60, "day";q=10000;w=86400',
      'X-RateLimit-Remaining: 497',
      'X-RateLimit-Reset: 1800000060',
      'RateLimit: "minute";r=497;t=60',
    ]);
  });
});
