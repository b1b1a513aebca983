import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { DailySessionCounter } from '../../src/auth/key-usage.ts';
import {
  createRateLimitPolicies,
  createRateLimitStatus,
  rateLimitHeaders,
  SlidingWindow,
} from '../../src/auth/rate-limits.ts';

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

  test('rounds the reset time up to whole seconds', () => {
    const status = createRateLimitStatus(policies.requests.perMinute, 0, 1_001, 1_800_000_000_000);
    assert.equal(status.resetEpochSeconds, 1_800_000_002);
    assert.equal(status.resetSeconds, 2);
  });
});

describe('DailySessionCounter', () => {
  const today = 22_000;

  test('releasing the reservation of a session twice decrements the session count once', () => {
    const counter = new DailySessionCounter();
    counter.reserveQuota(today);
    const reservation = counter.reserveQuota(today);
    reservation.release();
    reservation.release();
    assert.equal(counter.count(today), 1);
  });
});

describe('SlidingWindow', () => {
  const minuteMs = 60_000;

  /** Admits a request if the window has room. */
  function tryTake(window: SlidingWindow, nowMs: number): boolean {
    if (window.remainingRequests(nowMs) === 0) return false;
    window.addRequest(nowMs);
    return true;
  }

  /** Generates steps of the monotonic clock: zero, fractions, whole windows and times close to the end of the window. */
  const step = fc.oneof(
    fc.constantFrom(0, 0.25, 1, minuteMs - 1, minuteMs - 0.25, minuteMs, minuteMs + 0.25, 2 * minuteMs),
    fc.integer({ min: 0, max: 20_000 }).map((quarters) => quarters / 4),
    fc.integer({ min: 0, max: 100_000 }),
  );

  test('admits a request if and only if the current window contains fewer requests than the limit', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 40 }), fc.array(step, { maxLength: 300 }), (limit, steps) => {
        const window = new SlidingWindow(limit, minuteMs);
        const admitted: number[] = [];
        let nowMs = 1_000_000;
        for (const ms of steps) {
          nowMs += ms;
          const recent = admitted.filter((ms) => nowMs - ms < minuteMs).length;
          assert.equal(window.remainingRequests(nowMs), limit - recent);
          const taken = tryTake(window, nowMs);
          assert.equal(taken, recent < limit);
          if (taken) admitted.push(nowMs);
        }
        for (const [index, at] of admitted.entries()) {
          const next = admitted[index + limit];
          assert(next === undefined || next - at >= minuteMs);
        }
      }),
    );
  });

  test('returns the exact time until the window admits another request', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 20 }), fc.array(step, { minLength: 1, maxLength: 60 }), (limit, steps) => {
        const window = new SlidingWindow(limit, minuteMs);
        let nowMs = 1_000_000;
        for (const ms of steps) {
          nowMs += ms;
          tryTake(window, nowMs);
        }
        const waitMs = window.retryAfterMs(nowMs);
        if (window.remainingRequests(nowMs) > 0) {
          assert.equal(waitMs, 0);
        } else {
          assert.equal(window.remainingRequests(nowMs + waitMs - 0.25), 0);
          assert(window.remainingRequests(nowMs + waitMs) > 0);
        }
      }),
    );
  });

  test('a sliding window is empty exactly one window length after its last admitted request', () => {
    const window = new SlidingWindow(3, minuteMs);
    assert.equal(window.timeToResetMs(0), 0);
    window.addRequest(0);
    window.addRequest(10_000);
    assert.equal(window.timeToResetMs(25_000), 45_000);
    assert.equal(window.remainingRequests(69_999), 2);
    assert.equal(window.remainingRequests(70_000), 3);
    assert.equal(window.timeToResetMs(70_000), 0);
  });

  test('admit throws if the sliding window is full', () => {
    const window = new SlidingWindow(1, minuteMs);
    window.addRequest(0);
    assert.throws(() => window.addRequest(1), RangeError);
  });

  test('an empty sliding window can free its memory and be used again', () => {
    const window = new SlidingWindow(2, minuteMs);
    window.addRequest(0);
    assert.equal(window.deleteWindowIfEmpty(minuteMs - 1), false);
    assert.equal(window.remainingRequests(minuteMs - 1), 1);
    assert.equal(window.deleteWindowIfEmpty(minuteMs), true);
    assert(tryTake(window, minuteMs));
    assert(tryTake(window, minuteMs));
    assert(!tryTake(window, minuteMs));
  });
});
