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

/** Minimum number of requests at a point, because a short closed loop may report too few. */
const pointRequestsMin = 20;

/** Returns the requests per second at a share of saturation as an integer, with at least 20 requests per point. */
export function rateAtShare(share: number, saturation: number, seconds: number): number {
  return Math.max(Math.ceil(pointRequestsMin / seconds), Math.round(share * saturation));
}

/** Number of connections of the closed loop that measures saturation. */
const closedLoopConnections = 64;
/** Number of connections of an open-loop load. All of them are busy only if the server is far behind. */
const openLoopConnections = 256;
/** Length of the queue for connections, in seconds of the schedule; equal to the request deadline. */
const queueSeconds = 2;
const deadlineMs = 5_000;
const seed = 17;
const expectedStatus = 200;
const sendEachOnceSecondsMax = 60;

interface PointLoadOptions {
  readonly requestsFile: string;
  readonly singleUse: boolean;
  readonly warmUpSeconds: number;
  readonly seconds: number;
}

/** Measures the replies per second in a closed loop with the open-loop client. Throws for an unexpected reply. */
export async function measureSaturation(
  send: OpenLoopRunner,
  target: LoadTarget,
  load: Omit<PointLoadOptions, 'warmUpSeconds'>,
): Promise<number> {
  await readUsageWhenIdle(target);
  const result = await runClosedLoop(send, target, { ...load, warmUpSeconds: load.seconds / 2 });
  return result.achievedPerSecond;
}

/** Sends each request once in a closed loop. Throws for an unexpected reply. */
export async function sendEachOnce(
  send: OpenLoopRunner,
  target: LoadTarget,
  folder: string,
  requests: readonly PreparedRequest[],
): Promise<void> {
  const requestsFile = join(folder, 'requests-once');
  await writeRequests(requestsFile, requests);
  await runClosedLoop(send, target, {
    requestsFile,
    singleUse: true,
    warmUpSeconds: 0,
    seconds: sendEachOnceSecondsMax,
  });
}

/** Measures one point of a curve with an open-loop load. */
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
    queueMax: Math.ceil(perSecond * queueSeconds),
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
    cpuMicros: cpuKnown ? ((after.allThreadsSeconds - before.allThreadsSeconds) * 1e6) / result.answered : null,
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
    queueMax: 0,
  });
  const unexpected = result.refused + totalFailures(result.failed);
  if (unexpected > 0) throw new Error(`${unexpected} of ${result.due} replies did not have status ${expectedStatus}`);
  if (result.expected === 0) throw new Error('the closed loop got no replies');
  return result;
}

function toOpenLoopPlan(
  { port }: LoadTarget,
  { requestsFile, singleUse, warmUpSeconds, seconds }: PointLoadOptions,
): Omit<OpenLoopPlan, 'perSecond' | 'connections' | 'queueMax'> {
  return {
    port,
    requestsFile,
    singleUse,
    arrivals: 'poisson',
    seed,
    warmUpSeconds,
    seconds,
    deadlineMs,
    expectedStatus,
  };
}
