import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { CapacityPlanError } from '../../bench/capacity/input-file.ts';
import { calculateLoadPerKey, defaultTrafficMixFile, parseTrafficMix } from '../../bench/capacity/traffic-mix.ts';
import { mix, near } from './sample-result.ts';

describe('parseTrafficMix', () => {
  test('accepts bench/mixes/default.json', () => {
    assert.equal(parseTrafficMix(defaultTrafficMixFile).perSession.inputs, 1.3);
  });

  test('a traffic mix without rate limits uses the default rate limits of the service', () => {
    const mix = parseTrafficMix({ format: 1, per_100_sessions: {} });
    assert.deepEqual([...Object.values(mix.perSession)], [1, 0, 0, 0, 0, 0]);
    assert.deepEqual([mix.busyShare, mix.minutePeakFactor, mix.livePeakFactor, mix.sessionHours], [1, null, 6, 4]);
    assert.deepEqual(mix.limits, { requestsPerMinute: 500, analyticsPerMinute: 50, sessionsPerDay: 10_000 });
  });

  for (const [text, message] of [
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
        () => parseTrafficMix(JSON.parse(text)),
        (error: unknown) => error instanceof CapacityPlanError && message.test(error.message),
      );
    });
  }
});

describe('calculateLoadPerKey', () => {
  test('the limit on requests per minute, which ignores clicks, determines the maximum load of an API key with many inputs', () => {
    const load = calculateLoadPerKey(mix({ per_100_sessions: { inputs: 300, click: 50 } }));
    assert.equal(load.bound_by, 'requests a minute');
    near(load.rates_per_second.session + load.rates_per_second.inputs, 500 / 60);
    near(load.rates_per_second.inputs, 3 * load.rates_per_second.session);
    near(load.rates_per_second.click, load.rates_per_second.session / 2);
    near(load.requests_per_second, 500 / 60 + load.rates_per_second.click);
    near(load.sessions_per_day, 10_000);
    near(load.live_sessions, 10_000);
  });

  test('with many analytics queries, the limit on analytics queries per minute determines the maximum load of an API key', () => {
    const load = calculateLoadPerKey(mix({ per_100_sessions: { analytics: 50 } }));
    assert.equal(load.bound_by, 'analytics queries a minute');
    near(load.rates_per_second.analytics, 50 / 60);
    near(load.rates_per_second.session, 100 / 60);
  });

  test('if the traffic mix sets minute_peak, the daily session limit determines the maximum load of an API key', () => {
    const load = calculateLoadPerKey(mix({ per_100_sessions: { inputs: 100 }, minute_peak: 3 }));
    assert.equal(load.bound_by, 'sessions a day');
    near(load.requests_per_second, (2 * 3 * 10_000) / 86_400);
    near(load.sessions_per_day, 10_000);
  });

  test('the more requests a session needs, the fewer sessions an API key can create', () => {
    const load = calculateLoadPerKey(mix({ per_100_sessions: { inputs: 9_900 } }));
    near(load.rates_per_second.session, 5 / 60);
    near(load.sessions_per_day, 7_200);
    near(load.live_sessions, 1_200);
  });

  test('the factor live_peak increases the number of live sessions, at most to the number of sessions created per day', () => {
    near(calculateLoadPerKey(mix({ live_peak: 1 })).live_sessions, 10_000 / 6);
    near(calculateLoadPerKey(mix({ live_peak: 3 })).live_sessions, 5_000);
    near(calculateLoadPerKey(mix({ live_peak: 24 })).live_sessions, 10_000);
    // The request limit per minute allows no peak of live sessions.
    near(calculateLoadPerKey(mix({ per_100_sessions: { inputs: 9_900 }, live_peak: 6 })).live_sessions, 1_200);
  });

  test('if only a quarter of the API keys are busy, the average load per API key falls to a quarter', () => {
    const all = calculateLoadPerKey(mix());
    const some = calculateLoadPerKey(mix({ busy_share: 0.25 }));
    near(some.requests_per_second, all.requests_per_second / 4);
    near(some.sessions_per_day, all.sessions_per_day / 4);
    near(some.live_sessions, all.live_sessions / 4);
  });
});
