import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { bounds } from '../../src/bounds.ts';
import { dayOf } from '../../src/domain/calendar.ts';
import { HttpCaller } from '../load/http-caller.ts';
import type { LoadClient, LoadResult } from '../load/load-client.ts';
import { type PreparedRequest, writeRequests } from '../load/prepared-request.ts';
import type { Progress } from '../progress.ts';
import type { LimitResult } from '../result/limit-result.ts';
import { isClientBottleneck, type BottleneckInputs } from '../routes/saturation.ts';
import { createSessions } from '../scenarios/borrowers.ts';
import { cpuPerRequest } from '../target/cpu-cost.ts';
import { type LoadTarget, readUsageWhenIdle } from '../target/target.ts';
import { msUntilDayFits } from './day-left.ts';
import type { LimitScenario } from './limit-scenario.ts';

export interface LimitRun {
  readonly service: LoadTarget;
  readonly client: LoadClient;
  /** The key that is used up: with the limits of the scenario, and not used before. */
  readonly key: string;
  /** A key of the same account that no limit stops: what an admitted request costs is measured with it. */
  readonly unlimitedKey: string;
  readonly connections: number;
  /** Requests more than the limit, all at once with the others. */
  readonly excess: number;
  /** Length of the loads that tell what a request costs. */
  readonly seconds: number;
  readonly folder: string;
  readonly progress: Progress;
}

/** What the use of a day's limit may take: it must not begin on one day and end on another. */
const dayRunMaxMs = 60_000;

const admittedStatus = 200;
const refusedStatus = 429;

/**
 * Uses a limit up from many connections at once and counts; then sends nothing but requests that must be refused. Every
 * answer counts, those of that second load too. Throws when it took longer than the limit's span, since then nothing was shown.
 */
export async function measureLimit(scenario: LimitScenario, run: LimitRun): Promise<LimitResult> {
  const { name, title, limit, window } = scenario;
  const { service, key, unlimitedKey, connections, progress } = run;
  const caller = new HttpCaller(service.port, connections);
  try {
    const stage = { caller, keys: [unlimitedKey], nextKey: () => unlimitedKey, roundRequests: 1, state: new Map() };
    const [session] = await createSessions(stage, 1, 17);

    progress.step(`limits: ${name}: requests that are admitted`);
    const admittedLoad = await runLimitLoad(run, scenario.buildRequests(unlimitedKey, session!), admittedStatus);
    if (admittedLoad.unexpected > 0) {
      throw new Error(`${name}: ${admittedLoad.unexpected} requests within every limit were not answered 200`);
    }

    if (window === 'day') await waitForNextDay(progress, name);
    progress.step(`limits: ${name}: ${limit} and ${run.excess} more at once`);
    const requests = scenario.buildRequests(key, session!);
    const began = { day: dayOf(Date.now()), ms: performance.now() };
    const statuses = await caller.countStatuses(requests, limit + run.excess);
    const opened = caller.openConnections;

    progress.step(`limits: ${name}: requests that are refused`);
    const refusedLoad = await runLimitLoad(run, requests, refusedStatus);
    // The first request was admitted no earlier than it was sent, so its place was not free again before this.
    const over =
      window === 'day' ? dayOf(Date.now()) !== began.day : refusedLoad.endedMs - began.ms >= bounds.rateLimitWindowMs;
    if (over) throw new Error(`${name}: this machine was too slow to be asked for more within one ${window}`);

    const admitted = statuses.get(admittedStatus) ?? 0;
    const refused = statuses.get(refusedStatus) ?? 0;
    const { requests: asked, unexpected } = refusedLoad;
    return {
      name,
      title,
      limit,
      connections: opened,
      attempted: limit + run.excess + asked,
      admitted,
      refused: refused + asked - unexpected,
      other: limit + run.excess - admitted - refused + unexpected,
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

interface MeasuredLimitLoad extends LoadResult, BottleneckInputs {
  /** CPU time of the server for one request, all threads. Microseconds. */
  readonly cpuMicros: number | null;
  /** On the clock of this process. */
  readonly endedMs: number;
}

async function runLimitLoad(
  { service, client, connections, seconds, folder }: LimitRun,
  requests: readonly PreparedRequest[],
  expectedStatus: number,
): Promise<MeasuredLimitLoad> {
  const requestsFile = join(folder, 'limit-requests');
  // Every connection gets the requests in turn, each beginning with the first.
  await writeRequests(requestsFile, Array.from({ length: connections }, () => requests).flat());
  const before = await readUsageWhenIdle(service);
  const plan = { port: service.port, requestsFile, connections, seconds, once: false, expectedStatus };
  const result = await client.run(plan);
  const endedMs = performance.now();
  const after = await readUsageWhenIdle(service);
  await rm(requestsFile);
  if (result.requests === 0) throw new Error('the load had no answer at all');
  return {
    ...result,
    perSecond: result.requests / result.seconds,
    ...cpuPerRequest(before, after, result.requests),
    endedMs,
  };
}

async function waitForNextDay(progress: Progress, name: string): Promise<void> {
  const waitMs = msUntilDayFits(dayRunMaxMs, Date.now());
  if (waitMs === 0) return;
  progress.done(
    `limits: ${name}: waiting ${Math.ceil(waitMs / 1_000)} s for the next UTC day, which its limit goes by`,
  );
  await sleep(waitMs);
}
