import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type KeyLimitOverrides, noLimitOverrides } from '../../src/auth/rate-limits.ts';
import { bounds } from '../../src/bounds.ts';
import { dayNumberOf, dayStartMs } from '../../src/domain/calendar.ts';
import type { BenchContext, BenchPart, ProgressPrinter } from '../bench-part.ts';
import { autocannonClient } from '../load/autocannon-client.ts';
import { isClientBottleneck } from '../load/client-saturation.ts';
import { HttpCaller } from '../load/http-caller.ts';
import { type PreparedRequest, writeRequests } from '../load/prepared-request.ts';
import { describeLimitFailure, type LimitResult } from '../result/bench-result.ts';
import { createScenarioContext } from '../routes/run-scenario.ts';
import {
  type BorrowerSession,
  basePath,
  createSessions,
  inputsRequest,
  marketplaceRequest,
  sessionRequest,
} from '../scenarios/requests.ts';
import { cpuPerRequest, type LoadTarget, observeLoad } from '../target/load-target.ts';
import { createTemporaryFolder } from '../target/owned-resources.ts';
import { withServiceTarget } from '../target/service-target.ts';

/** Returns the milliseconds to wait so that a task of `neededMs` fits into one UTC day; 0 if the task fits now. */
export function delayToFitUtcDayMs(neededMs: number, wallMs: number): number {
  const leftMs = dayStartMs(dayNumberOf(wallMs) + 1) - wallMs;
  return leftMs >= neededMs ? 0 : leftMs;
}

/** Scenario that sends more requests with one key than a limit allows. */
export interface LimitScenario {
  readonly name: string;
  readonly title: string;
  /** Limits of the tested API key; null for the default limits. */
  readonly keyLimits: KeyLimitOverrides;
  /** Number of requests that one window must admit. */
  readonly limit: number;
  /** Window of the limit: 60 seconds or a UTC day. */
  readonly window: 'minute' | 'day';
  /** Returns the requests of the scenario, sent with this API key. The expected status of each request is 200 or 429. */
  buildRequests(key: string, session: BorrowerSession): readonly PreparedRequest[];
}

export const limitScenarios: readonly LimitScenario[] = [
  {
    name: 'requests-per-minute',
    title: 'requests a minute, of three operations in turn',
    keyLimits: noLimitOverrides,
    limit: bounds.requestsPerMinuteDefault,
    window: 'minute',
    buildRequests: (key, session) => {
      const own = { ...session, key };
      return [sessionRequest(key), inputsRequest(own, session.borrower), marketplaceRequest(own, 5)];
    },
  },
  {
    name: 'analytics-per-minute',
    title: 'analytics queries a minute',
    keyLimits: noLimitOverrides,
    limit: bounds.analyticsPerMinuteDefault,
    window: 'minute',
    buildRequests: (key) => [{ method: 'GET', path: `${basePath}/analytics?referrer_tag=bench_variant-a`, key }],
  },
  {
    name: 'sessions-per-day',
    title: 'sessions a day, of a key with a million requests a minute',
    keyLimits: { ...noLimitOverrides, requestsPerMinute: bounds.limitPerMinuteMax },
    limit: bounds.sessionsPerDayDefault,
    window: 'day',
    buildRequests: (key) => [sessionRequest(key)],
  },
];

/** Resources that all scenarios share. */
interface LimitRun extends Pick<BenchContext, 'client' | 'folder' | 'progress'> {
  readonly service: LoadTarget;
  /** API key without limits, of the same account as the tested keys. The requests with this key measure the cost of an admitted request. */
  readonly unlimitedKey: string;
  readonly connections: number;
  /** Number of concurrent requests that are sent in addition to the limit. */
  readonly excess: number;
  /** Duration of the loads that measure the cost of a request. */
  readonly seconds: number;
}

/** Maximum duration of a test of a daily limit. A test must not span two days. */
const dayRunMaxMs = 60_000;

const admittedStatus = 200;
const refusedStatus = 429;

/**
 * Exhausts the limit of an unused key from many concurrent connections and counts the replies, then sends only requests
 * that must be rejected. Throws if the load took longer than the window, because a new window admits more requests.
 */
async function measureLimit(scenario: LimitScenario, key: string, run: LimitRun): Promise<LimitResult> {
  const { name, title, limit, window } = scenario;
  const { service, unlimitedKey, connections, excess, progress } = run;
  const caller = new HttpCaller(service.port, connections);
  try {
    const [session] = await createSessions(createScenarioContext(caller, [unlimitedKey], 1), 1, 17);

    progress.showStep(`limits: ${name}: admitted requests`);
    const admittedLoad = await runLimitLoad(run, scenario.buildRequests(unlimitedKey, session!), admittedStatus);
    if (admittedLoad.unexpected > 0) {
      throw new Error(`${name}: ${admittedLoad.unexpected} requests below the limit did not return status 200`);
    }

    if (window === 'day') await waitForNextDay(progress, name);
    progress.showStep(`limits: ${name}: ${limit + excess} concurrent requests for a limit of ${limit}`);
    const requests = scenario.buildRequests(key, session!);
    const began = { day: dayNumberOf(Date.now()), ms: performance.now() };
    const statuses = await caller.countStatuses(requests, limit + excess);
    const opened = caller.openConnections;

    progress.showStep(`limits: ${name}: rejected requests`);
    const refusedLoad = await runLimitLoad(run, requests, refusedStatus);
    // The window cannot end earlier than `began` plus its length, because the server admitted the first request after `began`.
    const over =
      window === 'day'
        ? dayNumberOf(Date.now()) !== began.day
        : refusedLoad.endedMs - began.ms >= bounds.rateLimitWindowMs;
    if (over) throw new Error(`${name}: this machine is too slow to exceed the limit within one ${window}`);

    const admitted = statuses.get(admittedStatus) ?? 0;
    const refused = statuses.get(refusedStatus) ?? 0;
    const { requests: rejections, unexpected } = refusedLoad;
    return {
      name,
      title,
      limit,
      connections: opened,
      attempted: limit + excess + rejections,
      admitted,
      refused: refused + rejections - unexpected,
      other: limit + excess - admitted - refused + unexpected,
      expected: limit,
      refusalCpuMicros: refusedLoad.cpuMicros,
      admittedCpuMicros: admittedLoad.cpuMicros,
      refusalsPerSecond: refusedLoad.perSecond,
      clientSaturated: isClientBottleneck([refusedLoad]),
    };
  } finally {
    caller.close();
  }
}

/** Repeats the requests for some seconds. `endedMs` is the end of the load in milliseconds of `performance.now()`. */
async function runLimitLoad(
  { service, client, connections, seconds, folder }: LimitRun,
  requests: readonly PreparedRequest[],
  expectedStatus: number,
) {
  const requestsFile = join(folder, 'limit-requests');
  // Each connection sends all requests of the scenario in order.
  await writeRequests(requestsFile, Array.from({ length: connections }, () => requests).flat());
  const plan = { port: service.port, requestsFile, connections, seconds, singleUse: false, expectedStatus };
  const { result, usage } = await observeLoad(service, async () => ({
    ...(await client.run(plan)),
    endedMs: performance.now(),
  }));
  if (result.requests === 0) throw new Error('the load got no replies');
  return { ...result, perSecond: result.requests / result.seconds, ...cpuPerRequest(usage, result.requests) };
}

async function waitForNextDay(progress: ProgressPrinter, name: string): Promise<void> {
  const waitMs = delayToFitUtcDayMs(dayRunMaxMs, Date.now());
  if (waitMs === 0) return;
  progress.printLine(`limits: ${name}: waiting ${Math.ceil(waitMs / 1_000)} s for the next UTC day`);
  await sleep(waitMs);
}

const limitConnectionsMin = 64;
const excessRequests = { full: 20_000, quick: 2_000 };

const unlimited: KeyLimitOverrides = {
  requestsPerMinute: bounds.limitPerMinuteMax,
  analyticsPerMinute: bounds.limitPerMinuteMax,
  sessionsPerDay: bounds.limitPerDayMax,
};

export const limitsPart: BenchPart = {
  name: 'limits',
  description: 'exactness of the rate limits under concurrent load',
  measure: async (context) => {
    // Only autocannon counts each status separately.
    const withAutocannon = { ...context, client: autocannonClient };
    const excess = context.quick ? excessRequests.quick : excessRequests.full;
    return { limits: await measureLimits(limitScenarios, withAutocannon, excess) };
  },
  findProblems: ({ limits = [] }) => limits.map(describeLimitFailure).filter((fault) => fault !== null),
};

/** Runs the scenarios one after the other on one server, each with its own key. */
export async function measureLimits(
  scenarios: readonly LimitScenario[],
  { scale, client, folder: parent, progress }: Pick<BenchContext, 'scale' | 'client' | 'folder' | 'progress'>,
  excess: number,
): Promise<LimitResult[]> {
  const owned = await createTemporaryFolder(parent, 'limits-');
  const folder = owned.path;
  const ownLimits = [unlimited, ...scenarios.map(({ keyLimits }) => keyLimits)];
  try {
    progress.showStep('limits: starting the service');
    return await withServiceTarget({ folder, keys: 1, ownLimits }, async (service) => {
      const [, unlimitedKey, ...keys] = service.keys;
      const connections = Math.max(limitConnectionsMin, scale.connections);
      const run = {
        service,
        client,
        folder,
        progress,
        unlimitedKey: unlimitedKey!,
        connections,
        excess,
        seconds: scale.seconds,
      };
      const results: LimitResult[] = [];
      for (const [at, scenario] of scenarios.entries()) results.push(await measureLimit(scenario, keys[at]!, run));
      return results;
    });
  } finally {
    await owned.remove();
  }
}
