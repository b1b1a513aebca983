import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import {
  CapacityPlanError,
  calculateLoadPerKey,
  defaultTrafficMixFile,
  parseTrafficMix,
  type TrafficMixFile,
  toTrafficMix,
} from '../../src/capacity/traffic-mix.ts';

const shipped = readFileSync(new URL('../../bench/mixes/default.json', import.meta.url), 'utf8');
const mix = (changes: Partial<TrafficMixFile> = {}) => toTrafficMix({ ...defaultTrafficMixFile, ...changes });
const near = (actual: number, expected: number) =>
  assert(Math.abs(actual - expected) < 1e-9 * Math.max(1, expected), `${actual}, not ${expected}`);

describe('parseTrafficMix', () => {
  test('bench/mixes/default.json contains the default traffic mix', () => {
    assert.deepEqual(parseTrafficMix(shipped), toTrafficMix(defaultTrafficMixFile));
  });

  test('a traffic mix without rate limits uses the default rate limits of the service', () => {
    const mix = parseTrafficMix('{"format":1,"per_100_sessions":{}}');
    assert.deepEqual([...Object.values(mix.perSession)], [1, 0, 0, 0, 0, 0]);
    assert.deepEqual([mix.busyShare, mix.minutePeakFactor, mix.livePeakFactor, mix.sessionHours], [1, null, 6, 4]);
    assert.deepEqual(mix.limits, { requestsPerMinute: 500, analyticsPerMinute: 50, sessionsPerDay: 10_000 });
  });

  for (const [text, message] of [
    ['{', /^is not JSON$/],
    ['[]', /must be object/],
    ['{"format":2,"per_100_sessions":{}}', /format must be/],
    ['{"format":1}', /must have required properties per_100_sessions/],
    ['{"format":1,"per_100_sessions":{"click":-1}}', /per_100_sessions.click must be >= 0/],
    ['{"format":1,"per_100_sessions":{"session":100}}', /must not contain session/],
    ['{"format":1,"per_100_sessions":{"marketplace_known":1}}', /did you mean marketplace-known\?/],
    ['{"format":1,"per_100_sessions":{"clicks":1}}', /did you mean click\?/],
    ['{"format":1,"per_100_sessions":{},"busy-share":1}', /did you mean busy_share\?/],
    ['{"format":1,"per_100_sessions":{},"limits":{"per_day":1}}', /its members are requests_per_minute,/],
    ['{"format":1,"per_100_sessions":{},"busy_share":1.5}', /busy_share must be <= 1/],
    // An unknown name is not repeated, because it may contain control characters.
    ['{"format":1,"\\u001b[2J":1}', /^((?!2J)\P{Cc})*$/u],
  ] as const) {
    test(`rejects the traffic mix ${text}`, () => {
      assert.throws(
        () => parseTrafficMix(text),
        (error: unknown) => error instanceof CapacityPlanError && message.test(error.message),
      );
    });
  }
});

describe('calculateLoadPerKey', () => {
  test('the limit on requests per minute, which ignores clicks, determines the maximum load of an API key with many inputs', () => {
    const load = calculateLoadPerKey(mix({ per_100_sessions: { inputs: 300, click: 50 } }));
    assert.equal(load.boundBy, 'requests a minute');
    near(load.ratesPerSecond.session + load.ratesPerSecond.inputs, 500 / 60);
    near(load.ratesPerSecond.inputs, 3 * load.ratesPerSecond.session);
    near(load.ratesPerSecond.click, load.ratesPerSecond.session / 2);
    near(load.requestsPerSecond, 500 / 60 + load.ratesPerSecond.click);
    near(load.sessionsPerDay, 10_000);
    near(load.liveSessions, 10_000);
  });

  test('with many analytics queries, the limit on analytics queries per minute determines the maximum load of an API key', () => {
    const load = calculateLoadPerKey(mix({ per_100_sessions: { analytics: 50 } }));
    assert.equal(load.boundBy, 'analytics queries a minute');
    near(load.ratesPerSecond.analytics, 50 / 60);
    near(load.ratesPerSecond.session, 100 / 60);
  });

  test('if the traffic mix sets minute_peak, the daily session limit determines the maximum load of an API key', () => {
    const load = calculateLoadPerKey(mix({ per_100_sessions: { inputs: 100 }, minute_peak: 3 }));
    assert.equal(load.boundBy, 'sessions a day');
    near(load.requestsPerSecond, (2 * 3 * 10_000) / 86_400);
    near(load.sessionsPerDay, 10_000);
  });

  test('the more requests a session needs, the fewer sessions an API key can create', () => {
    const load = calculateLoadPerKey(mix({ per_100_sessions: { inputs: 9_900 } }));
    near(load.ratesPerSecond.session, 5 / 60);
    near(load.sessionsPerDay, 7_200);
    near(load.liveSessions, 1_200);
  });

  test('the factor live_peak increases the number of live sessions, at most to the number of sessions created per day', () => {
    near(calculateLoadPerKey(mix({ live_peak: 1 })).liveSessions, 10_000 / 6);
    near(calculateLoadPerKey(mix({ live_peak: 3 })).liveSessions, 5_000);
    near(calculateLoadPerKey(mix({ live_peak: 24 })).liveSessions, 10_000);
    // The request limit per minute allows no peak of live sessions.
    near(calculateLoadPerKey(mix({ per_100_sessions: { inputs: 9_900 }, live_peak: 6 })).liveSessions, 1_200);
  });

  test('if only a quarter of the API keys are busy, the average load per API key falls to a quarter', () => {
    const all = calculateLoadPerKey(mix());
    const some = calculateLoadPerKey(mix({ busy_share: 0.25 }));
    near(some.requestsPerSecond, all.requestsPerSecond / 4);
    near(some.sessionsPerDay, all.sessionsPerDay / 4);
    near(some.liveSessions, all.liveSessions / 4);
  });
});
