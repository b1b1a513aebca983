import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { generateApiKey } from '../../src/auth/api-key.ts';
import { type Admission, Authenticator, type Rejection } from '../../src/auth/authenticator.ts';
import type { Operation } from '../../src/auth/key-usage.ts';
import { defaultKeyLimits } from '../../src/auth/rate-limits.ts';
import { bounds } from '../../src/bounds.ts';
import { dayMs, dayOf } from '../../src/domain/calendar.ts';
import { personalLoans } from '../../src/verticals/personal-loans/personal-loans.ts';
import { knownVerticals } from '../../src/verticals/registry.ts';
import type { Vertical } from '../../src/verticals/vertical.ts';
import { issueKey, type KeyWanted, ManualClock, noonMs, openGate, revokeKey } from './support.ts';

const midnightMs = noonMs + dayMs / 2;
const otherVertical: Vertical = { ...personalLoans, number: 99, segment: 'boat-loans', keyPrefix: 'svc_bt_' };

/** A gate and one key: `ask` admits with that key. */
function openGateWithKey(t: Parameters<typeof openGate>[0], wanted: KeyWanted = {}, clock = new ManualClock()) {
  const gate = openGate(t, { clock });
  const { key, issued } = issueKey(gate.folder, wanted);
  const ask = (operation: Operation = 'get_marketplace', vertical = personalLoans) =>
    gate.gatekeeper.admit(`Bearer ${key}`, vertical, operation);
  return { ...gate, key, issued, ask };
}

function admitted(answer: Admission | Rejection): Admission {
  assert(answer.ok, `refused: ${answer.ok || answer.refusal.code}`);
  return answer;
}

function rejected(answer: Admission | Rejection): Rejection {
  assert(!answer.ok, 'admitted');
  return answer;
}

function refusalCode(answer: Admission | Rejection): string {
  return rejected(answer).refusal.code;
}

test('an admitted caller is known by account, vertical, mode and key', (t) => {
  const { ask, issued } = openGateWithKey(t, { mode: 'test' });
  assert.deepEqual(admitted(ask()).caller, {
    account: issued.account,
    vertical: personalLoans,
    mode: 'test',
    keyNumber: issued.number,
  });
});

test('a missing, a malformed and an unknown key are unauthorized, and told nothing of limits', (t) => {
  const { gatekeeper } = openGate(t);
  for (const header of [
    '',
    'Bearer',
    'Bearer nonsense',
    `Basic ${generateApiKey('svc_pl_', 'live')}`,
    `Bearer ${generateApiKey('svc_pl_', 'live')}`,
  ]) {
    const answer = rejected(gatekeeper.admit(header, personalLoans, 'get_marketplace'));
    assert.deepEqual(answer, { ok: false, refusal: { code: 'UNAUTHORIZED' }, limits: null, askedBy: null }, header);
  }
});

test('a key is good until the millisecond it expires', (t) => {
  const { ask, clock } = openGateWithKey(t, { expiresAtMs: noonMs + 1000 });
  clock.pass(999);
  admitted(ask());
  clock.pass(1);
  assert.equal(refusalCode(ask()), 'UNAUTHORIZED');
});

test('a revoked key is unauthorized', (t) => {
  const { ask, folder, issued } = openGateWithKey(t);
  revokeKey(folder, issued.id);
  assert.equal(refusalCode(ask()), 'UNAUTHORIZED');
});

test('a valid key of another vertical is refused as such, whether that vertical is served or not', (t) => {
  for (const vertical of [otherVertical, ...knownVerticals.slice(1)]) {
    const { ask } = openGateWithKey(t, { vertical });
    assert.equal(refusalCode(ask()), 'VERTICAL_MISMATCH', vertical.segment);
  }
});

test('an unknown, a revoked and an expired key of another vertical are unauthorized', (t) => {
  const { gatekeeper, folder } = openGate(t);
  const revoked = issueKey(folder, { vertical: otherVertical });
  revokeKey(folder, revoked.issued.id);
  const expired = issueKey(folder, { vertical: otherVertical, expiresAtMs: noonMs }, noonMs - 1);
  for (const key of [generateApiKey('svc_bt_', 'live'), revoked.key, expired.key]) {
    assert.equal(refusalCode(gatekeeper.admit(`Bearer ${key}`, personalLoans, 'get_marketplace')), 'UNAUTHORIZED');
  }
});

test('a key of another vertical is told how its limits stand, and is charged nothing', (t) => {
  const { ask } = openGateWithKey(t, { limits: { requestsPerMinute: 2 } });
  admitted(ask());
  for (let n = 0; n < 5; n++) {
    const { refusal, limitStatus } = rejected(ask('get_marketplace', otherVertical));
    assert.deepEqual([refusal.code, limitStatus?.remaining], ['VERTICAL_MISMATCH', 1]);
  }
  admitted(ask());
});

test('a vertical mismatch comes before an exhausted limit', (t) => {
  const { ask } = openGateWithKey(t, { limits: { requestsPerMinute: 1 } });
  admitted(ask());
  assert.equal(refusalCode(ask('get_marketplace', otherVertical)), 'VERTICAL_MISMATCH');
  assert.equal(refusalCode(ask()), 'RATE_LIMIT_EXCEEDED');
});

test('all operations share the requests of a minute', (t) => {
  const { ask } = openGateWithKey(t, { limits: { requestsPerMinute: 4 } });
  for (const operation of ['create_session', 'submit_inputs', 'get_marketplace', 'query_analytics'] as const)
    admitted(ask(operation));
  for (const operation of ['create_session', 'submit_inputs', 'get_marketplace', 'query_analytics'] as const) {
    assert.equal(refusalCode(ask(operation)), 'RATE_LIMIT_EXCEEDED');
  }
});

test('a key without limits of its own has those of the contract', (t) => {
  const { ask } = openGateWithKey(t);
  for (let n = 0; n < 50; n++) admitted(ask('query_analytics'));
  assert.equal(refusalCode(ask('query_analytics')), 'RATE_LIMIT_EXCEEDED');
  for (let n = 0; n < 450; n++) admitted(ask());
  assert.equal(refusalCode(ask()), 'RATE_LIMIT_EXCEEDED');
});

test('an analytics query counts as a request too', (t) => {
  const { ask } = openGateWithKey(t, { limits: { requestsPerMinute: 3, analyticsPerMinute: 50 } });
  for (let n = 0; n < 3; n++) admitted(ask('query_analytics'));
  assert.equal(refusalCode(ask('query_analytics')), 'RATE_LIMIT_EXCEEDED');
});

test('an analytics query refused by its own limit is not charged as a request', (t) => {
  const { ask } = openGateWithKey(t, { limits: { requestsPerMinute: 3, analyticsPerMinute: 1 } });
  admitted(ask('query_analytics'));
  for (let n = 0; n < 10; n++) assert.equal(refusalCode(ask('query_analytics')), 'RATE_LIMIT_EXCEEDED');
  admitted(ask());
  admitted(ask());
});

test('an analytics query refused for its requests is not charged as a query', (t) => {
  const { ask, clock } = openGateWithKey(t, { limits: { requestsPerMinute: 1, analyticsPerMinute: 1 } });
  admitted(ask());
  clock.pass(30_000);
  assert.equal(refusalCode(ask('query_analytics')), 'RATE_LIMIT_EXCEEDED');
  clock.pass(30_000);
  admitted(ask('query_analytics'));
});

test('two keys of one account have limits of their own', (t) => {
  const { ask, gatekeeper, folder, clock } = openGateWithKey(t, { limits: { requestsPerMinute: 1 } });
  admitted(ask());
  clock.pass(bounds.unknownApiKeyPollIntervalMs);
  const second = issueKey(folder, { limits: { requestsPerMinute: 1 } });
  admitted(gatekeeper.admit(`Bearer ${second.key}`, personalLoans, 'get_marketplace'));
});

test('keys created or revoked meanwhile leave the use of a key as it was', (t) => {
  const { ask, gatekeeper, folder, clock } = openGateWithKey(t, { limits: { requestsPerMinute: 1 } });
  admitted(ask());
  const other = issueKey(folder);
  clock.pass(bounds.unknownApiKeyPollIntervalMs);
  admitted(gatekeeper.admit(`Bearer ${other.key}`, personalLoans, 'get_marketplace'));
  assert.equal(refusalCode(ask()), 'RATE_LIMIT_EXCEEDED');
});

test('a refusal by a limit names the moment from which the next request succeeds', (t) => {
  const { ask, clock } = openGateWithKey(t, { limits: { requestsPerMinute: 2 } });
  admitted(ask());
  clock.pass(20_000.5);
  admitted(ask());
  const { refusal, limitStatus } = rejected(ask());
  assert.equal(refusal.retryAfterSeconds, 40);
  assert.equal(limitStatus?.remaining, 0);
  assert.equal(limitStatus?.resetEpochSeconds, noonMs / 1000 + 60);
  clock.pass(39_999);
  assert.equal(rejected(ask()).refusal.retryAfterSeconds, 1);
  clock.pass(0.5);
  admitted(ask());
});

test('of two exhausted limits the later one decides when to come back', (t) => {
  const { ask, clock } = openGateWithKey(t, { limits: { requestsPerMinute: 2, analyticsPerMinute: 1 } });
  admitted(ask());
  clock.pass(10_000);
  admitted(ask('query_analytics'));
  const { refusal, limitStatus } = rejected(ask('query_analytics'));
  assert.equal(refusal.retryAfterSeconds, 60);
  assert.equal(limitStatus?.policy.limit, 1);
  assert.equal(rejected(ask()).refusal.retryAfterSeconds, 50);
});

test('an admitted caller is told of the limit with the least remaining, and when it is whole again', (t) => {
  const { ask, clock } = openGateWithKey(t, {
    limits: { requestsPerMinute: 10, analyticsPerMinute: 3, sessionsPerDay: 8 },
  });
  const told = (operation: Operation) => {
    const { policy, remaining, resetEpochSeconds } = admitted(ask(operation)).limitStatus;
    return [policy.limit, remaining, resetEpochSeconds - noonMs / 1000];
  };
  assert.deepEqual(told('get_marketplace'), [10, 9, 60]);
  assert.deepEqual(told('create_session'), [8, 7, dayMs / 2000]);
  assert.deepEqual(told('query_analytics'), [3, 2, 60]);
  clock.pass(1000);
  assert.deepEqual(told('submit_inputs'), [10, 6, 61]);
  assert.deepEqual(told('create_session'), [10, 5, 61]);
});

test('only the limits an operation is subject to are told as its policies', (t) => {
  const { ask } = openGateWithKey(t);
  const policies = (operation: Operation) => admitted(ask(operation)).limitStatus.policy.policyHeaderValue;
  assert.equal(policies('get_marketplace'), '"minute";q=500;w=60');
  assert.equal(policies('submit_inputs'), '"minute";q=500;w=60');
  assert.equal(policies('query_analytics'), '"minute";q=500;w=60, "analytics";q=50;w=60');
  assert.equal(policies('create_session'), '"minute";q=500;w=60, "day";q=10000;w=86400');
});

test('sessions are counted by UTC day, and begin anew at midnight', (t) => {
  const { ask, clock } = openGateWithKey(t, { limits: { sessionsPerDay: 2 } }, new ManualClock(midnightMs - 2));
  admitted(ask('create_session'));
  admitted(ask('create_session'));
  const { refusal, limitStatus } = rejected(ask('create_session'));
  assert.equal(refusal.retryAfterSeconds, 1);
  assert.equal(limitStatus?.resetEpochSeconds, midnightMs / 1000);
  clock.pass(2);
  admitted(ask('create_session'));
  admitted(ask('create_session'));
  assert.equal(rejected(ask('create_session')).refusal.retryAfterSeconds, dayMs / 1000);
});

test('the day limit holds back no other operation, and what it refuses is not charged as a request', (t) => {
  const { ask } = openGateWithKey(t, { limits: { requestsPerMinute: 3, sessionsPerDay: 1 } });
  admitted(ask('create_session'));
  for (let n = 0; n < 5; n++) assert.equal(refusalCode(ask('create_session')), 'RATE_LIMIT_EXCEEDED');
  admitted(ask());
  admitted(ask());
});

test('only a new session holds a place in its day', (t) => {
  const { ask } = openGateWithKey(t);
  assert.equal(admitted(ask('get_marketplace')).quotaReservation, null);
  assert.equal(admitted(ask('query_analytics')).quotaReservation, null);
  assert.notEqual(admitted(ask('create_session')).quotaReservation, null);
});

test('a place given back, also after midnight, is free on its own day only', (t) => {
  const { ask, clock } = openGateWithKey(t, { limits: { sessionsPerDay: 1 } }, new ManualClock(midnightMs - 1));
  const { quotaReservation } = admitted(ask('create_session'));
  quotaReservation?.release();
  const before = admitted(ask('create_session'));
  clock.pass(1);
  admitted(ask('create_session'));
  before.quotaReservation?.release();
  assert.equal(refusalCode(ask('create_session')), 'RATE_LIMIT_EXCEEDED');
});

test('the sessions of today come back from the ledger', (t) => {
  const { ask, gatekeeper, issued } = openGateWithKey(t, { limits: { sessionsPerDay: 10 } });
  gatekeeper.restoreSessionCount(issued.number, dayOf(noonMs) - 1, 10);
  gatekeeper.restoreSessionCount(issued.number, dayOf(noonMs), 9);
  assert.equal(admitted(ask('create_session')).limitStatus.remaining, 0);
  assert.equal(refusalCode(ask('create_session')), 'RATE_LIMIT_EXCEEDED');
});

test('a limit lowered below what the ledger says leaves nothing, not less', (t) => {
  const { ask, gatekeeper, issued } = openGateWithKey(t, { limits: { sessionsPerDay: 5 } });
  gatekeeper.restoreSessionCount(issued.number, dayOf(noonMs), 9);
  assert.equal(rejected(ask('create_session')).limitStatus?.remaining, 0);
  assert.equal(rejected(ask('create_session', otherVertical)).limitStatus?.remaining, 0);
});

test('the sessions of a key in use cannot be restored over', (t) => {
  const { ask, gatekeeper, issued } = openGateWithKey(t);
  admitted(ask('create_session'));
  assert.throws(() => gatekeeper.restoreSessionCount(issued.number, dayOf(noonMs), 0));
});

test('a wall clock set forward or back neither opens nor closes a minute', (t) => {
  const { ask, clock } = openGateWithKey(t, { limits: { requestsPerMinute: 1 } });
  admitted(ask());
  clock.wall += 3_600_000;
  assert.equal(refusalCode(ask()), 'RATE_LIMIT_EXCEEDED');
  clock.wall -= 7_200_000;
  clock.monotonic += 60_000;
  admitted(ask());
});

test('the use of idle keys is forgotten as other requests come in, but not the sessions of a day', (t) => {
  const { gatekeeper, folder, clock, ask } = openGateWithKey(t);
  for (let n = 0; n < 5; n++) {
    const { key } = issueKey(folder, { account: `quiet ${n}` });
    clock.pass(bounds.unknownApiKeyPollIntervalMs);
    admitted(gatekeeper.admit(`Bearer ${key}`, personalLoans, n === 0 ? 'create_session' : 'get_marketplace'));
  }
  assert.equal(gatekeeper.trackedKeyCount, 5);
  for (let n = 0; n < 4; n++) {
    clock.pass(bounds.rateLimitWindowMs);
    admitted(ask());
  }
  assert.equal(gatekeeper.trackedKeyCount, 2);
});

test('what the ledger said of keys that never come back is forgotten once its days are over', (t) => {
  const { gatekeeper, clock, ask } = openGateWithKey(t);
  for (let number = 100; number < 105; number++) gatekeeper.restoreSessionCount(number, dayOf(noonMs), 1);
  clock.pass(dayMs);
  admitted(ask());
  assert.equal(gatekeeper.trackedKeyCount, 6);
  clock.pass(dayMs);
  admitted(ask());
  assert.equal(gatekeeper.trackedKeyCount, 1);
});

test('a key forgotten while idle starts again with its whole limits', (t) => {
  const { gatekeeper, folder, clock, key } = openGateWithKey(t, { limits: { requestsPerMinute: 1 } });
  const busy = issueKey(folder);
  const ask = (text: string) => gatekeeper.admit(`Bearer ${text}`, personalLoans, 'get_marketplace');
  admitted(ask(key));
  for (let n = 0; n < 4; n++) {
    clock.pass(bounds.rateLimitWindowMs);
    admitted(ask(busy.key));
  }
  assert.equal(gatekeeper.trackedKeyCount, 1);
  admitted(ask(key));
  assert.equal(refusalCode(ask(key)), 'RATE_LIMIT_EXCEEDED');
});

test('whatever the clocks and the operations, a request is admitted exactly when every limit of it has room', (t) => {
  const { directory: keyDirectory, folder } = openGate(t);
  const limits = { requestsPerMinute: 7, analyticsPerMinute: 3, sessionsPerDay: 4 };
  const { key } = issueKey(folder, { limits });
  const event = fc.record({
    operation: fc.constantFrom<Operation>('create_session', 'submit_inputs', 'get_marketplace', 'query_analytics'),
    monotonicStepMs: fc.constantFrom(0, 0, 0.5, 1, 5_000, 29_999.5, 59_999, 60_000, 90_000),
    // Back over midnight and forward over it again, but not by more than a day.
    wallStepMs: fc.constantFrom(0, 0, 1, 30_000, 60_000, -45_000, dayMs / 4),
    sessionCreated: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(event, { maxLength: 120 }), (events) => {
      const clock = new ManualClock(midnightMs - 60_000);
      const gatekeeper = new Authenticator({ keyDirectory, clock, defaultLimits: limits });
      const requests: number[] = [];
      const queries: number[] = [];
      const sessions = new Map<number, number>();
      for (const { operation, monotonicStepMs, wallStepMs, sessionCreated } of events) {
        clock.monotonic += monotonicStepMs;
        clock.wall += wallStepMs;
        const inMinute = (times: readonly number[]) => times.filter((at) => clock.monotonic - at < 60_000).length;
        const today = dayOf(clock.wall);
        const fits =
          inMinute(requests) < limits.requestsPerMinute &&
          (operation !== 'query_analytics' || inMinute(queries) < limits.analyticsPerMinute) &&
          (operation !== 'create_session' || (sessions.get(today) ?? 0) < limits.sessionsPerDay);
        const answer = gatekeeper.admit(`Bearer ${key}`, personalLoans, operation);
        assert.equal(answer.ok, fits);
        if (!answer.ok) continue;
        requests.push(clock.monotonic);
        if (operation === 'query_analytics') queries.push(clock.monotonic);
        if (operation === 'create_session') {
          if (sessionCreated) sessions.set(today, (sessions.get(today) ?? 0) + 1);
          else answer.quotaReservation?.release();
        }
      }
    }),
  );
});

test('a caller who waits as long as a refusal says is admitted', (t) => {
  const { directory: keyDirectory, folder } = openGate(t);
  const limits = { requestsPerMinute: 5, analyticsPerMinute: 2, sessionsPerDay: 2 };
  const { key } = issueKey(folder, { limits });
  const event = fc.tuple(
    fc.constantFrom<Operation>('create_session', 'submit_inputs', 'query_analytics'),
    fc.constantFrom(0, 0.25, 500, 12_345.75),
  );
  fc.assert(
    fc.property(fc.array(event, { minLength: 3, maxLength: 40 }), (events) => {
      const clock = new ManualClock(noonMs + 123);
      const gatekeeper = new Authenticator({ keyDirectory, clock, defaultLimits: limits });
      for (const [operation, stepMs] of events) {
        clock.pass(stepMs);
        const answer = gatekeeper.admit(`Bearer ${key}`, personalLoans, operation);
        if (answer.ok) continue;
        const waitSeconds = answer.refusal.retryAfterSeconds ?? 0;
        assert(waitSeconds >= 1);
        assert(Math.abs((answer.limitStatus?.resetEpochSeconds ?? 0) - clock.wall / 1000 - waitSeconds) <= 1);
        clock.pass(waitSeconds * 1000);
        admitted(gatekeeper.admit(`Bearer ${key}`, personalLoans, operation));
      }
    }),
  );
});

test('whoever counts refusals is told of each, and by what it was', (t) => {
  const { directory: keyDirectory, folder, clock } = openGate(t);
  const told: string[] = [];
  const gatekeeper = new Authenticator({
    keyDirectory,
    clock,
    defaultLimits: defaultKeyLimits,
    onRejected: (by) => told.push(by),
  });
  const { key } = issueKey(folder, { limits: { requestsPerMinute: 3, analyticsPerMinute: 1, sessionsPerDay: 1 } });
  const ask = (operation: Operation) => gatekeeper.admit(`Bearer ${key}`, personalLoans, operation);
  gatekeeper.admit('', personalLoans, 'create_session');
  gatekeeper.admit('Bearer nobody', personalLoans, 'create_session');
  clock.pass(bounds.unknownApiKeyPollIntervalMs);
  admitted(ask('query_analytics'));
  ask('query_analytics');
  admitted(ask('create_session'));
  ask('create_session');
  admitted(ask('submit_inputs'));
  ask('submit_inputs');
  gatekeeper.admit(`Bearer ${key}`, otherVertical, 'submit_inputs');
  assert.deepEqual(told, ['unauthorized', 'unauthorized', 'analytics', 'day', 'minute', 'vertical_mismatch']);
});
