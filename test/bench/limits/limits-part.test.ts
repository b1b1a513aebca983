import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { ProgressPrinter, quickScale } from '../../../bench/bench-part.ts';
import {
  delayToFitUtcDayMs,
  type LimitScenario,
  limitScenarios,
  limitsPart,
  measureLimits,
} from '../../../bench/limits/limits-part.ts';
import { noLimitOverrides } from '../../../src/auth/rate-limits.ts';
import { countedClient } from '../support/counted-load.ts';

const progress = new ProgressPrinter({ isTTY: false, write: () => true } as unknown as NodeJS.WriteStream);
const [ofRequests, ofAnalytics, ofSessions] = limitScenarios;

/** The scenario with limits so low that a few requests reach them. */
function smaller(scenario: LimitScenario, limit: number, keyLimits: Partial<LimitScenario['keyLimits']>) {
  return { ...scenario, limit, keyLimits: { ...noLimitOverrides, ...keyLimits } };
}

test('uses up limits over many connections, counts every admitted request, and reports a limit that admits too many', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'bench-limits-'));
  t.after(() => rm(folder, { recursive: true }));
  const scenarios = [
    smaller(ofRequests!, 100, { requestsPerMinute: 100 }),
    smaller(ofAnalytics!, 3, { analyticsPerMinute: 3 }),
    smaller(ofSessions!, 70, { sessionsPerDay: 70 }),
    smaller({ ...ofRequests!, name: 'loose' }, 100, { requestsPerMinute: 101 }),
  ];
  const context = { scale: quickScale, client: countedClient, folder, progress };
  const limits = await measureLimits(scenarios, context, 200);

  for (const { name, limit, connections, attempted, admitted, refused, other, expected } of limits) {
    assert.equal(expected, limit, name);
    assert.equal(admitted, name === 'loose' ? limit + 1 : limit, name);
    assert.equal(admitted + refused, attempted, name);
    assert.ok(attempted > limit + 200, name);
    assert.equal(other, 0, name);
    assert.equal(connections, 64, name);
  }
  const failures = limitsPart.findProblems!({ limits });
  assert.equal(failures.length, 1);
  assert.match(failures[0]!, /the limit loose is not exact: of \d+ requests 101 were admitted instead of 100/);
  const [exact] = limits;
  for (const wrong of [{ admitted: 99 }, { other: 1 }]) {
    assert.equal(limitsPart.findProblems!({ limits: [{ ...exact!, ...wrong }] }).length, 1);
  }
  assert.deepEqual(await readdir(folder), []);
});

test('the limit scenarios have the limits that the contract documents', () => {
  assert.deepEqual(
    limitScenarios.map(({ name, limit }) => [name, limit]),
    [
      ['requests-per-minute', 500],
      ['analytics-per-minute', 50],
      ['sessions-per-day', 10_000],
    ],
  );
});

test('waits until midnight UTC before a load that would not end before midnight', () => {
  const midnight = Date.UTC(2026, 0, 2);
  const times = [midnight, midnight - 60_000, midnight - 59_999, midnight - 1];
  assert.deepEqual(
    times.map((wallMs) => delayToFitUtcDayMs(60_000, wallMs)),
    [0, 0, 59_999, 1],
  );
});
