import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { test } from 'node:test';
import { quickBenchScale } from '../../../bench/bench-part.ts';
import type { LimitScenario } from '../../../bench/limits/limit-test.ts';
import { limitScenarios, measureLimits } from '../../../bench/limits/limits-part.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { silentProgress } from '../support/counted-load.ts';

const folder = temporaryFolder();
const scale = { ...quickBenchScale, seconds: 0.1 };
const measure = (scenarios: readonly LimitScenario[]) =>
  measureLimits(scenarios, { scale, quick: true, folder, progress: silentProgress });

/** Returns a scenario that expects a limit of 130 requests. Its keys have the limit `keyLimit`, so the scenario fails unless this is 130. */
function withLowLimit(scenario: LimitScenario, keyLimit = 130): LimitScenario {
  return { ...scenario, limit: 130, keyLimits: { ...scenario.keyLimits, [scenario.name]: keyLimit } };
}

test('counts the admitted requests of each limit and measures refused requests, then deletes all files', async () => {
  const results = await measure(limitScenarios.map((scenario) => withLowLimit(scenario)));
  const loads = [
    ['unused', 640, 130],
    ['unused', 64, 64],
    ['partly used', 640, 66],
  ];
  assert.deepEqual(
    results.map(({ name, loads }) => [name, loads.map(({ window, sent, admitted }) => [window, sent, admitted])]),
    [
      ['requests_per_minute', loads],
      ['analytics_per_minute', loads],
      // The test clock moves to the next day.
      ['sessions_per_day', [...loads, ['ended', 640, 130]]],
    ],
  );
  for (const { served, refused } of results) assert.deepEqual([served.length, refused.length], [1, 1]);
  assert.deepEqual(await readdir(folder), []);
});

test('fails if a key admits one request more than its limit, and says which limit', async () => {
  const [requests] = limitScenarios;
  await assert.rejects(
    measure([withLowLimit(requests!, 131)]),
    /the limit is not exact: requests_per_minute, window unused: 131 of 640 requests were admitted instead of 130/,
  );
  assert.deepEqual(await readdir(folder), []);
});
