import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { bounds } from '../../src/bounds.ts';
import { msPerDay } from '../../src/domain/calendar.ts';
import type { BenchContext, BenchPart } from '../bench-part.ts';
import { autocannonClient } from '../load/autocannon-client.ts';
import { HttpCaller } from '../load/http-caller.ts';
import { writeRequestFile } from '../load/prepared-request.ts';
import type { LimitResult, ServerMeasurement } from '../result/bench-result.ts';
import { createScenarioContext, measureLoad, rotateServerOrder } from '../routes/run-scenario.ts';
import {
  analyticsRequest,
  createSessions,
  marketplaceRequest,
  referrerTags,
  sessionRequest,
} from '../scenarios/requests.ts';
import { createTemporaryFolder } from '../target/owned-resources.ts';
import { withServiceTarget } from '../target/service-target.ts';
import { admittedStatus, refusedStatus } from './check-load.ts';
import { createKey, type KeyLimits, type LimitRun, type LimitScenario, LimitTest } from './limit-test.ts';

export const limitScenarios: readonly LimitScenario[] = [
  {
    name: 'requests_per_minute',
    route: 'GET /marketplace',
    policy: 'minute',
    limit: bounds.requestsPerMinuteDefault,
    windowMs: bounds.rateLimitWindowMs,
    keyLimits: {},
    buildRequest: (session) => marketplaceRequest(session, 5),
  },
  {
    name: 'analytics_per_minute',
    route: 'GET /analytics',
    policy: 'analytics',
    limit: bounds.analyticsPerMinuteDefault,
    windowMs: bounds.rateLimitWindowMs,
    keyLimits: {},
    buildRequest: ({ key }) => analyticsRequest(key, referrerTags[0]!, 'summary'),
  },
  {
    name: 'sessions_per_day',
    route: 'POST /session',
    policy: 'day',
    limit: bounds.sessionsPerDayDefault,
    windowMs: msPerDay,
    keyLimits: { requests_per_minute: bounds.limitPerMinuteMax },
    buildRequest: ({ key }) => sessionRequest(key),
  },
];

const highestLimits: Required<KeyLimits> = {
  requests_per_minute: bounds.limitPerMinuteMax,
  analytics_per_minute: bounds.limitPerMinuteMax,
  sessions_per_day: bounds.limitPerDayMax,
};

/** Measures requests of one route in alternating rounds: with a key that has the highest limits, and with a key at its limit. */
async function measureRefusals(
  { name, buildRequest }: LimitScenario,
  { service, folder, session, scale, progress }: LimitRun,
): Promise<Pick<LimitResult, 'served' | 'refused'>> {
  const { rounds, connections, seconds } = scale;
  // The limit of the key is 1, so that hardly any request is admitted after a minute has passed.
  const usedUpKey = await createKey(service, { ...highestLimits, [name]: 1 });
  const kinds = {
    served: { request: buildRequest(session), expectedStatus: admittedStatus },
    refused: {
      request: buildRequest({ ...session, key: usedUpKey }),
      expectedStatus: refusedStatus,
      alsoExpected: [admittedStatus],
    },
  };
  const requestsFile = join(folder, 'requests');
  const measured: Record<keyof typeof kinds, ServerMeasurement[]> = { served: [], refused: [] };
  // Round 0 warms up.
  for (let round = 0; round <= rounds; round++) {
    for (const kind of rotateServerOrder(['served', 'refused'] as const, round)) {
      progress.printProgress(`limits: ${name}: round ${round} of ${rounds}: ${kind} requests`);
      const { request, ...statuses } = kinds[kind];
      await writeRequestFile(requestsFile, new Array(connections).fill(request));
      const plan = { port: service.port, requestsFile, connections, seconds, singleUse: false, ...statuses };
      const measurement = await measureLoad(service, autocannonClient, plan);
      if (round > 0) measured[kind].push(measurement);
    }
  }
  return measured;
}

/** Pause between two loads, so that their requests leave the window of a minute at different times. */
const pauseMs = 10_000;

/** Tests all limits at the same time, because their windows last a minute. A quick run tests no window of a minute after its end. */
async function testLimits(scenarios: readonly LimitScenario[], run: LimitRun, quick: boolean) {
  const tests = scenarios.map((scenario) => new LimitTest(scenario, run));
  for (const test of tests) await test.beginWindow();
  if (!quick) await sleep(pauseMs);
  for (const test of tests) await test.fillWindow();
  const crossingTests = tests.filter(({ scenario }) => !quick || scenario.windowMs === msPerDay);
  for (const test of crossingTests) await test.approachWindowEnd();
  for (const test of crossingTests) await test.crossWindowEnd();
  return tests.map(({ loads }) => loads);
}

const sessionSeed = 17;

/** Measures the CPU time of refused requests and tests that the limits are exact. Throws for a limit that is not exact. */
export async function measureLimits(
  scenarios: readonly LimitScenario[],
  { scale, quick, folder: parent, progress }: Pick<BenchContext, 'scale' | 'quick' | 'folder' | 'progress'>,
): Promise<LimitResult[]> {
  const folder = await createTemporaryFolder(parent, 'limits-');
  try {
    progress.printProgress('limits: starting the service');
    const target = { folder: folder.path, keys: 1, settings: { SVC_TEST_CLOCK: 'on' } };
    return await withServiceTarget(target, async (service) => {
      const caller = new HttpCaller(service.port, 1);
      const context = createScenarioContext(caller, [await createKey(service, highestLimits)], 1);
      const [session] = await createSessions(context, 1, sessionSeed);
      caller.close();
      const run = { service, folder: folder.path, session: session!, scale, progress };
      const costs: Pick<LimitResult, 'served' | 'refused'>[] = [];
      for (const scenario of scenarios) costs.push(await measureRefusals(scenario, run));
      // The tests come last, because they advance the clock beyond the lifetime of the session.
      const loads = await testLimits(scenarios, run, quick);
      return scenarios.map(({ name, route, limit }, at) => ({ name, route, limit, loads: loads[at]!, ...costs[at]! }));
    });
  } finally {
    await folder.remove();
  }
}

export const limitsBenchPart: BenchPart = {
  name: 'limits',
  description: 'exactness of the limits of a key over many connections, and CPU time of refused requests',
  measure: async (context) => ({ limits: await measureLimits(limitScenarios, context) }),
};
