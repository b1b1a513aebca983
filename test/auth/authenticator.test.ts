import assert from 'node:assert/strict';
import { test } from 'node:test';
import Database from 'better-sqlite3';
import fc from 'fast-check';
import { generateApiKey, hashApiKey } from '../../src/auth/api-key.ts';
import {
  type AdmittedCaller,
  Authenticator,
  type AuthRejection,
  type OperationAccess,
} from '../../src/auth/authenticator.ts';
import { keyFilePath } from '../../src/auth/key-file.ts';
import type { RateLimitGroup } from '../../src/auth/rate-limits.ts';
import { defaultKeyLimits } from '../../src/auth/rate-limits.ts';
import { bounds } from '../../src/bounds.ts';
import { daysSinceEpoch, msPerDay } from '../../src/domain/calendar.ts';
import type { Vertical } from '../../src/domain/vertical.ts';
import { personalLoans } from '../../src/verticals/personal-loans/personal-loans.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { issueKey, type KeyOptions, noonMs, openAuth, revokeKey } from './support.ts';

const midnightMs = noonMs + msPerDay / 2;
const otherVertical: Vertical = { ...personalLoans, number: 99, segment: 'boat-loans', keyPrefix: 'svc_bt_' };

/** Opens an authenticator with one API key. `ask` sends a request with the key. */
function openAuthWithKey(t: Parameters<typeof openAuth>[0], options: KeyOptions = {}, clock = new ManualClock()) {
  const auth = openAuth(t, { clock });
  const { key, issued } = issueKey(auth.folder, options);
  const ask = (group: RateLimitGroup = 'requests', vertical = personalLoans) =>
    auth.authenticator.admitRequest(`Bearer ${key}`, vertical, { limit: group });
  return { ...auth, key, issued, ask };
}

function assertAdmitted(answer: AdmittedCaller | AuthRejection): AdmittedCaller {
  assert(answer.ok, `rejected: ${answer.ok || answer.error.code}`);
  return answer;
}

function assertRejected(answer: AdmittedCaller | AuthRejection): AuthRejection {
  assert(!answer.ok, 'admitted');
  return answer;
}

function errorCode(answer: AdmittedCaller | AuthRejection): string {
  return assertRejected(answer).error.code;
}

test('returns the account, vertical, mode and key number of the caller', (t) => {
  const { ask, issued } = openAuthWithKey(t, { mode: 'test' });
  assert.deepEqual(assertAdmitted(ask()).caller, {
    account: issued.account,
    vertical: personalLoans,
    mode: 'test',
    keyNumber: issued.number,
  });
});

test('a key belongs to the account for which it was issued, also if its digits name another account, vertical and mode', (t) => {
  const { authenticator, folder } = openAuth(t);
  const [acme, other] = ['acme', 'other'].map((account) => issueKey(folder, { account }).issued);
  const text = generateApiKey({ ...personalLoans, number: 2 }, 'test', other!.account).replace('_test_', '_live_');
  const database = new Database(keyFilePath(folder));
  database.prepare('UPDATE keys SET hash = ? WHERE id = ?').run(Buffer.from(hashApiKey(text), 'latin1'), acme!.id);
  database.close();
  const { caller } = assertAdmitted(authenticator.admitRequest(`Bearer ${text}`, personalLoans, { limit: 'requests' }));
  assert.deepEqual([caller.account, caller.vertical, caller.mode], [acme!.account, personalLoans, 'live']);
});

test('rejects a missing, malformed or unknown API key, and returns no rate limit status', (t) => {
  const { authenticator } = openAuth(t);
  for (const header of [
    '',
    'Bearer',
    'Bearer nonsense',
    `Basic ${generateApiKey(personalLoans, 'live', 1)}`,
    `Bearer ${generateApiKey(personalLoans, 'live', 1)}`,
  ]) {
    const answer = assertRejected(authenticator.admitRequest(header, personalLoans, { limit: 'requests' }));
    assert.deepEqual(answer, { ok: false, error: { code: 'UNAUTHORIZED' }, limitStatus: null, caller: null }, header);
  }
});

test('an API key is valid until exactly its expiry time', (t) => {
  const { ask, clock } = openAuthWithKey(t, { expiresAtMs: noonMs + 1000 });
  clock.advance(999);
  assertAdmitted(ask());
  clock.advance(1);
  assert.equal(errorCode(ask()), 'UNAUTHORIZED');
});

test('rejects an unknown, revoked or expired key of another vertical with UNAUTHORIZED', (t) => {
  const { authenticator, folder } = openAuth(t);
  const revoked = issueKey(folder, { vertical: otherVertical });
  revokeKey(folder, revoked.issued.id);
  const expired = issueKey(folder, { vertical: otherVertical, expiresAtMs: noonMs }, noonMs - 1);
  for (const key of [generateApiKey(otherVertical, 'live', 1), revoked.key, expired.key]) {
    assert.equal(
      errorCode(authenticator.admitRequest(`Bearer ${key}`, personalLoans, { limit: 'requests' })),
      'UNAUTHORIZED',
    );
  }
});

test('a request to a vertical for which its API key is not valid does not count towards the rate limits', (t) => {
  const { ask } = openAuthWithKey(t, { limits: { requestsPerMinute: 2 } });
  assertAdmitted(ask());
  for (let n = 0; n < 5; n++) {
    const { error, limitStatus } = assertRejected(ask('requests', otherVertical));
    assert.deepEqual([error.code, limitStatus?.remaining], ['VERTICAL_MISMATCH', 1]);
  }
  assertAdmitted(ask());
  assert.equal(errorCode(ask('requests', otherVertical)), 'VERTICAL_MISMATCH');
  assert.equal(errorCode(ask()), 'RATE_LIMIT_EXCEEDED');
});

test('rejects an analytics key for other operations before the rate limits, without counting the request', (t) => {
  const limits = { requestsPerMinute: 2, sessionsPerDay: 1 };
  const { authenticator, key } = openAuthWithKey(t, { scope: 'analytics', limits });
  const figures = { limit: 'analytics', scope: 'analytics' } as const;
  const ask = (operation: OperationAccess, vertical = personalLoans) =>
    authenticator.admitRequest(`Bearer ${key}`, vertical, operation, () => assert.fail('reads an Idempotency-Key'));
  const assertForbidden = (remaining: number) => {
    for (const limit of ['requests', 'analytics', 'sessions'] as const) {
      const { error, limitStatus, caller } = assertRejected(ask({ limit }));
      assert.deepEqual([error.code, caller?.keyNumber], ['INSUFFICIENT_SCOPE', 1]);
      assert.equal(limitStatus?.remaining, limit === 'sessions' ? Math.min(1, remaining) : remaining);
    }
  };
  const query = () => authenticator.admitRequest(`Bearer ${key}`, personalLoans, figures);
  assertForbidden(2);
  assertAdmitted(query());
  assertForbidden(1);
  assertAdmitted(query());
  assert.equal(errorCode(query()), 'RATE_LIMIT_EXCEEDED');
  assertForbidden(0);
  assert.equal(errorCode(ask({ limit: 'sessions' }, otherVertical)), 'VERTICAL_MISMATCH');
});

test('reports a reset time of 0 if no request of the last minute counts', (t) => {
  const { ask, clock } = openAuthWithKey(t);
  clock.advance(bounds.rateLimitWindowMs - 0.5);
  assertAdmitted(ask());
  // Idle counters are deleted now, and not when the minute of the first request ends.
  clock.advance(0.5);
  assert.equal(assertRejected(ask('requests', otherVertical)).limitStatus?.resetSeconds, 60);
  clock.advance(bounds.rateLimitWindowMs - 0.5);
  assert.equal(assertRejected(ask('requests', otherVertical)).limitStatus?.resetSeconds, 0);
});

test('a request with a repeated Idempotency-Key counts towards the limit per minute, but not towards the limit per day', (t) => {
  const { authenticator, folder } = openAuth(t);
  const { key } = issueKey(folder, { limits: { requestsPerMinute: 3, sessionsPerDay: 1 } });
  const create = (isRepeat: boolean) =>
    authenticator.admitRequest(`Bearer ${key}`, personalLoans, { limit: 'sessions' }, () => isRepeat);
  assertAdmitted(create(false));
  assert.equal(errorCode(create(false)), 'RATE_LIMIT_EXCEEDED');
  for (let n = 0; n < 2; n++) {
    const { limitStatus, quotaReservation } = assertAdmitted(create(true));
    assert.deepEqual([limitStatus.policy.name, limitStatus.remaining, quotaReservation], ['day', 0, null]);
  }
  const { error, limitStatus } = assertRejected(create(true));
  assert.deepEqual([limitStatus?.policy.name, error.retryAfterSeconds], ['minute', 60]);
});

test('counts the requests of each key separately', (t) => {
  const { ask, authenticator, folder, clock } = openAuthWithKey(t, { limits: { requestsPerMinute: 1 } });
  assertAdmitted(ask());
  clock.advance(bounds.unknownApiKeyPollIntervalMs);
  const second = issueKey(folder, { limits: { requestsPerMinute: 1 } });
  assertAdmitted(authenticator.admitRequest(`Bearer ${second.key}`, personalLoans, { limit: 'requests' }));
});

test('the retry time of a rejected request is the time until the next request succeeds', (t) => {
  const { ask, clock } = openAuthWithKey(t, { limits: { requestsPerMinute: 2 } });
  assertAdmitted(ask());
  clock.advance(20_000.5);
  assertAdmitted(ask());
  const { error, limitStatus } = assertRejected(ask());
  assert.equal(error.retryAfterSeconds, 40);
  assert.equal(limitStatus?.remaining, 0);
  assert.equal(limitStatus?.resetEpochSeconds, noonMs / 1000 + 60);
  clock.advance(39_999);
  assert.equal(assertRejected(ask()).error.retryAfterSeconds, 1);
  clock.advance(0.5);
  assertAdmitted(ask());
});

test('if several rate limits apply, returns the status of the limit with the fewest remaining requests', (t) => {
  const { ask, clock } = openAuthWithKey(t, {
    limits: { requestsPerMinute: 10, analyticsPerMinute: 3, sessionsPerDay: 8 },
  });
  const statusOf = (group: RateLimitGroup) => {
    const { policy, remaining, resetEpochSeconds } = assertAdmitted(ask(group)).limitStatus;
    return [policy.name, remaining, resetEpochSeconds - noonMs / 1000];
  };
  assert.deepEqual(statusOf('requests'), ['minute', 9, 60]);
  assert.deepEqual(statusOf('sessions'), ['day', 7, msPerDay / 2000]);
  assert.deepEqual(statusOf('analytics'), ['analytics', 2, 60]);
  clock.advance(1000);
  assert.deepEqual(statusOf('requests'), ['minute', 6, 61]);
  assert.deepEqual(statusOf('sessions'), ['minute', 5, 61]);
});

test('returns only the rate limit policies that apply to the group', (t) => {
  const { ask } = openAuthWithKey(t);
  const policies = (group: RateLimitGroup) => assertAdmitted(ask(group)).limitStatus.policy.policyHeaderValue;
  assert.equal(policies('requests'), '"minute";q=500;w=60');
  assert.equal(policies('analytics'), '"minute";q=500;w=60, "analytics";q=50;w=60');
  assert.equal(policies('sessions'), '"minute";q=500;w=60, "day";q=10000;w=86400');
});

test("releasing a session reservation reduces only the session count of the reservation's day", (t) => {
  const { ask, clock } = openAuthWithKey(t, { limits: { sessionsPerDay: 3 } }, new ManualClock(midnightMs - 1));
  const [before, released] = [assertAdmitted(ask('sessions')), assertAdmitted(ask('sessions'))];
  // Further calls of `release` have no effect.
  for (let n = 0; n < 2; n++) released.quotaReservation?.release();
  assert.equal(assertAdmitted(ask('sessions')).limitStatus.remaining, 1);
  clock.advance(1);
  for (let n = 0; n < 3; n++) assertAdmitted(ask('sessions'));
  before.quotaReservation?.release();
  assert.equal(errorCode(ask('sessions')), 'RATE_LIMIT_EXCEEDED');
  clock.setWall(midnightMs - 1);
  assert.equal(assertAdmitted(ask('sessions')).limitStatus.remaining, 1);
});

test('adds new sessions to the session count that was restored for the same day', (t) => {
  const { ask, authenticator, issued } = openAuthWithKey(t, { limits: { sessionsPerDay: 10 } });
  authenticator.restoreSessionCount(issued.number, daysSinceEpoch(noonMs) - 1, 10);
  authenticator.restoreSessionCount(issued.number, daysSinceEpoch(noonMs), 9);
  assert.equal(assertAdmitted(ask('sessions')).limitStatus.remaining, 0);
  assert.equal(errorCode(ask('sessions')), 'RATE_LIMIT_EXCEEDED');
});

test('reports 0 remaining sessions if the session count restored after a restart exceeds the daily limit', (t) => {
  const { ask, authenticator, issued } = openAuthWithKey(t, { limits: { sessionsPerDay: 5 } });
  authenticator.restoreSessionCount(issued.number, daysSinceEpoch(noonMs), 9);
  assert.equal(assertRejected(ask('sessions')).limitStatus?.remaining, 0);
  assert.equal(assertRejected(ask('sessions', otherVertical)).limitStatus?.remaining, 0);
});

test('deletes the request counts of idle API keys, but keeps their session counts for the day', (t) => {
  const { authenticator, folder, clock, ask } = openAuthWithKey(t);
  for (let n = 0; n < 5; n++) {
    const { key } = issueKey(folder, { account: `quiet ${n}` });
    clock.advance(bounds.unknownApiKeyPollIntervalMs);
    assertAdmitted(
      authenticator.admitRequest(`Bearer ${key}`, personalLoans, { limit: n === 0 ? 'sessions' : 'requests' }),
    );
  }
  assert.equal(authenticator.trackedKeyCount, 5);
  for (let n = 0; n < 4; n++) {
    clock.advance(bounds.rateLimitWindowMs);
    assertAdmitted(ask());
  }
  assert.equal(authenticator.trackedKeyCount, 2);
});

for (const restored of [false, true]) {
  for (const days of [1, 2, 3, 30, -1, -2, -30]) {
    test(`keeps ${restored ? 'restored ' : ''}session counts while the clock is wrong by ${days} days`, (t) => {
      const { ask, authenticator, issued, clock } = openAuthWithKey(t, { limits: { sessionsPerDay: 1 } });
      if (restored) authenticator.restoreSessionCount(issued.number, daysSinceEpoch(noonMs), 1);
      else assertAdmitted(ask('sessions'));
      for (const wrongDays of [days, Math.round(days / 2) + 40]) {
        clock.setWall(noonMs + wrongDays * msPerDay);
        assert.equal(assertAdmitted(ask('sessions')).limitStatus.remaining, 0);
        // Requests delete the counts of idle keys once a minute.
        clock.advance(bounds.rateLimitWindowMs);
        assertAdmitted(ask());
      }
      clock.setWall(noonMs + 3 * bounds.rateLimitWindowMs);
      assert.equal(errorCode(ask('sessions')), 'RATE_LIMIT_EXCEEDED');
    });
  }
}

test('keeps the session counts of idle API keys while the clock is wrong', (t) => {
  const { ask, authenticator, folder, clock } = openAuthWithKey(t);
  const { key } = issueKey(folder, { limits: { sessionsPerDay: 1 } });
  const createSession = () => authenticator.admitRequest(`Bearer ${key}`, personalLoans, { limit: 'sessions' });
  authenticator.restoreSessionCount(100, daysSinceEpoch(noonMs), 1);
  assertAdmitted(createSession());
  clock.setWall(noonMs + 60 * msPerDay);
  for (let n = 0; n < 3; n++) {
    clock.advance(bounds.rateLimitWindowMs);
    assertAdmitted(ask());
  }
  assert.equal(authenticator.trackedKeyCount, 3);
  clock.setWall(noonMs);
  assert.equal(errorCode(createSession()), 'RATE_LIMIT_EXCEEDED');
});

test('deletes the restored session counts of API keys after two days', (t) => {
  const { authenticator, clock, ask } = openAuthWithKey(t);
  for (let number = 100; number < 105; number++) authenticator.restoreSessionCount(number, daysSinceEpoch(noonMs), 1);
  clock.advance(msPerDay);
  assertAdmitted(ask());
  assert.equal(authenticator.trackedKeyCount, 6);
  clock.advance(msPerDay);
  assertAdmitted(ask());
  assert.equal(authenticator.trackedKeyCount, 1);
});

test('admits a random request if and only if all its rate limits allow the request', (t) => {
  const { keyDirectory, folder } = openAuth(t);
  const { key } = issueKey(folder);
  const anyLimits = fc.record({
    requestsPerMinute: fc.constantFrom(1, 7, 40),
    analyticsPerMinute: fc.constantFrom(3, 20),
    sessionsPerDay: fc.constantFrom(4, 60),
  });
  const event = fc.record({
    group: fc.constantFrom<RateLimitGroup>('sessions', 'requests', 'requests', 'analytics', 'analytics'),
    monotonicStepMs: fc.constantFrom(0, 0, 0, 0, 0, 0.5, 1, 250, 2_000, 29_999.5, 59_999, 60_000, 90_000),
    // The clock crosses midnight in both directions, and may be ahead by two days for some time.
    wallStepMs: fc.constantFrom(0, 0, 1, 30_000, 60_000, -45_000),
    wrongDays: fc.constantFrom(0, 0, 0, 2),
    sessionCreated: fc.boolean(),
  });
  fc.assert(
    fc.property(anyLimits, fc.array(event, { maxLength: 300, size: 'max' }), (limits, events) => {
      const clock = new ManualClock(midnightMs - 60_000);
      const authenticator = new Authenticator({ keyDirectory, clock, defaultLimits: limits });
      const requests: number[] = [];
      const queries: number[] = [];
      const sessions = new Map<number, number>();
      let rightMs = clock.wallMs();
      for (const { group, monotonicStepMs, wallStepMs, wrongDays, sessionCreated } of events) {
        rightMs += wallStepMs;
        const wallMs = rightMs + wrongDays * msPerDay;
        clock.advance(monotonicStepMs);
        clock.setWall(wallMs);
        const nowMs = clock.monotonicMs();
        const inMinute = (times: readonly number[]) => times.filter((at) => nowMs - at < 60_000).length;
        const today = daysSinceEpoch(wallMs);
        const isQuery = group === 'analytics';
        const fits =
          inMinute(requests) < limits.requestsPerMinute &&
          (!isQuery || inMinute(queries) < limits.analyticsPerMinute) &&
          (group !== 'sessions' || (sessions.get(today) ?? 0) < limits.sessionsPerDay);
        const answer = authenticator.admitRequest(`Bearer ${key}`, personalLoans, { limit: group });
        assert.equal(answer.ok, fits);
        if (!answer.ok) continue;
        requests.push(nowMs);
        const { policy, remaining, resetSeconds } = answer.limitStatus;
        if (policy.name === 'minute') {
          assert.equal(remaining, limits.requestsPerMinute - inMinute(requests));
          assert.equal(resetSeconds, 60);
        }
        if (isQuery) queries.push(nowMs);
        if (group === 'sessions') {
          if (sessionCreated) sessions.set(today, (sessions.get(today) ?? 0) + 1);
          else answer.quotaReservation?.release();
        }
      }
    }),
  );
});

test('a rejected request of any group succeeds after the returned retry time', (t) => {
  const { keyDirectory, folder } = openAuth(t);
  const limits = { requestsPerMinute: 5, analyticsPerMinute: 2, sessionsPerDay: 2 };
  const { key } = issueKey(folder, { limits });
  const event = fc.tuple(
    fc.constantFrom<RateLimitGroup>('sessions', 'requests', 'analytics'),
    fc.constantFrom(0, 0.25, 500, 12_345.75),
  );
  fc.assert(
    fc.property(fc.array(event, { minLength: 3, maxLength: 40 }), (events) => {
      const clock = new ManualClock(noonMs + 123);
      const authenticator = new Authenticator({ keyDirectory, clock, defaultLimits: limits });
      for (const [group, stepMs] of events) {
        clock.advance(stepMs);
        const answer = authenticator.admitRequest(`Bearer ${key}`, personalLoans, { limit: group });
        if (answer.ok) continue;
        const waitSeconds = answer.error.retryAfterSeconds ?? 0;
        assert(waitSeconds >= 1);
        assert(Math.abs((answer.limitStatus?.resetEpochSeconds ?? 0) - clock.wallMs() / 1000 - waitSeconds) <= 1);
        clock.advance(waitSeconds * 1000);
        assertAdmitted(authenticator.admitRequest(`Bearer ${key}`, personalLoans, { limit: group }));
      }
    }),
  );
});

test('calls onRejected with the reason for each rejected request', (t) => {
  const { keyDirectory, folder, clock } = openAuth(t);
  const reasons: string[] = [];
  const authenticator = new Authenticator({
    keyDirectory,
    clock,
    defaultLimits: defaultKeyLimits,
    onRejected: (reason) => reasons.push(reason),
  });
  const { key } = issueKey(folder, { limits: { requestsPerMinute: 3, analyticsPerMinute: 1, sessionsPerDay: 1 } });
  const ask = (group: RateLimitGroup) => authenticator.admitRequest(`Bearer ${key}`, personalLoans, { limit: group });
  authenticator.admitRequest('', personalLoans, { limit: 'sessions' });
  authenticator.admitRequest('Bearer nobody', personalLoans, { limit: 'sessions' });
  clock.advance(bounds.unknownApiKeyPollIntervalMs);
  assertAdmitted(ask('analytics'));
  ask('analytics');
  assertAdmitted(ask('sessions'));
  ask('sessions');
  assertAdmitted(ask('requests'));
  ask('requests');
  authenticator.admitRequest(`Bearer ${key}`, otherVertical, { limit: 'requests' });
  const { key: reader } = issueKey(folder, { scope: 'analytics' });
  clock.advance(bounds.unknownApiKeyPollIntervalMs);
  authenticator.admitRequest(`Bearer ${reader}`, personalLoans, { limit: 'requests' });
  const forbidden = ['vertical_mismatch', 'insufficient_scope'];
  assert.deepEqual(reasons, ['unauthorized', 'unauthorized', 'analytics', 'day', 'minute', ...forbidden]);
});
