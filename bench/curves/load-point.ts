import { join } from 'node:path';
import { isOpenLoopClientSaturated } from '../load/client-saturation.ts';
import { type PreparedRequest, writeRequests } from '../load/prepared-request.ts';
import {
  type OpenLoopPlan,
  type OpenLoopResult,
  type OpenLoopRunner,
  totalFailures,
} from '../open-loop/open-loop-plan.ts';
import type { CurvePoint } from '../result/bench-result.ts';
import { type LoadTarget, readUsageWhenIdle } from '../target/load-target.ts';

/** Requests that a point is made of at the very least: a closed loop of a moment may have found next to nothing. */
const pointRequestsMin = 20;

/** Requests a second at this share of saturation, for a load of this length: a whole number. */
export function rateAtShare(share: number, saturation: number, seconds: number): number {
  return Math.max(Math.ceil(pointRequestsMin / seconds), Math.round(share * saturation));
}

/** Connections of the closed loop that finds saturation: as many as the other loads have. */
const closedLoopConnections = 64;
/** Of a load on schedule: enough that they are what runs out only when the server is far behind. */
const openLoopConnections = 256;
/** Requests waiting for a connection, in seconds of the schedule: as long as the service itself would give them. */
const queueSeconds = 2;
const deadlineMs = 5_000;
const seed = 17;
const expectedStatus = 200;
const sendEachOnceSecondsMax = 60;

interface PointLoadOptions {
  readonly requestsFile: string;
  readonly once: boolean;
  readonly warmUpSeconds: number;
  readonly seconds: number;
}

/** Answers a second of a closed loop, by the very client that the load on schedule comes from. Throws at any other answer. */
export async function measureSaturation(
  send: OpenLoopRunner,
  target: LoadTarget,
  load: Omit<PointLoadOptions, 'warmUpSeconds'>,
): Promise<number> {
  await readUsageWhenIdle(target);
  const result = await runClosedLoop(send, target, { ...load, warmUpSeconds: load.seconds / 2 });
  return result.achievedPerSecond;
}

/** Sends each of these requests once, as fast as answers come. Throws when any answer is another than expected. */
export async function sendEachOnce(
  send: OpenLoopRunner,
  target: LoadTarget,
  folder: string,
  requests: readonly PreparedRequest[],
): Promise<void> {
  const requestsFile = join(folder, 'requests-once');
  await writeRequests(requestsFile, requests);
  await runClosedLoop(send, target, { requestsFile, once: true, warmUpSeconds: 0, seconds: sendEachOnceSecondsMax });
}

/** One point of a curve: a load on schedule, and what server and client made of it. */
export async function measureLoadPoint(
  send: OpenLoopRunner,
  target: LoadTarget,
  x: number,
  perSecond: number,
  load: PointLoadOptions,
): Promise<CurvePoint> {
  const before = await readUsageWhenIdle(target);
  await target.probe.start();
  const result = await send({
    ...toOpenLoopPlan(target, load),
    perSecond,
    connections: openLoopConnections,
    waitingMax: Math.ceil(perSecond * queueSeconds),
  });
  const process = await target.probe.stop();
  const after = await readUsageWhenIdle(target);
  const cpuKnown = before !== null && after !== null && result.answered > 0;
  const { achievedPerSecond, latencyMs, refused, lagMs, busy } = result;
  return {
    x,
    offeredPerSecond: perSecond,
    achievedPerSecond,
    latencyMs,
    refused,
    failed: totalFailures(result.failed),
    cpuMicros: cpuKnown ? ((after.allThreads - before.allThreads) * 1e6) / result.answered : null,
    process,
    client: { lagMs, busy, saturated: isOpenLoopClientSaturated(result) },
  };
}

async function runClosedLoop(
  send: OpenLoopRunner,
  target: LoadTarget,
  load: PointLoadOptions,
): Promise<OpenLoopResult> {
  const result = await send({
    ...toOpenLoopPlan(target, load),
    perSecond: null,
    connections: closedLoopConnections,
    waitingMax: 0,
  });
  const unexpected = result.refused + totalFailures(result.failed);
  if (unexpected > 0) throw new Error(`${unexpected} of ${result.due} answers were not ${expectedStatus}`);
  if (result.expected === 0) throw new Error('the closed loop had no answer at all');
  return result;
}

function toOpenLoopPlan(
  { port }: LoadTarget,
  { requestsFile, once, warmUpSeconds, seconds }: PointLoadOptions,
): Omit<OpenLoopPlan, 'perSecond' | 'connections' | 'waitingMax'> {
  return {
    port,
    requestsFile,
    once,
    arrivals: 'poisson',
    seed,
    warmUpSeconds,
    seconds,
    deadlineMs,
    expectedStatus,
  };
}
