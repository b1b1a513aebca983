import { join } from 'node:path';
import type { BenchContext } from '../bench-part.ts';
import { isOpenLoopClientSaturated } from '../load/client-saturation.ts';
import { type PreparedRequest, writeRequestFile } from '../load/prepared-request.ts';
import type { OpenLoopPlan, OpenLoopResult } from '../open-loop/open-loop-plan.ts';
import type { LoadCurvePoint } from '../result/bench-result.ts';
import {
  computeCpuMicrosPerRequest,
  type LoadTarget,
  measureServerUsage,
  readProcessUsageWhenIdle,
} from '../target/load-target.ts';

/** Minimum number of requests at a point of a curve, even if the measured saturation rate is very low. */
const pointRequestsMin = 20;

/** Returns a request rate: `share` of the saturation rate, or the rate for `pointRequestsMin` requests in `seconds` if higher. */
export function computeRequestRate(share: number, saturation: number, seconds: number): number {
  return Math.max(Math.ceil(pointRequestsMin / seconds), Math.round(share * saturation));
}

/** Number of connections of the closed loop that measures saturation. */
const closedLoopConnections = 64;
/** Number of connections of an open-loop load. All connections are busy only if the server is far behind the schedule. */
const openLoopConnections = 256;
/** Capacity of the request queue, as the number of seconds in which the same number of requests is scheduled. */
const queueSeconds = 2;
const expectedStatus = 200;
const sendEachOnceSecondsMax = 60;

/** Dependencies of a load: `sendOpenLoop` sends the requests, and `folder` contains the files with the requests. */
export type RequestSender = Pick<BenchContext, 'sendOpenLoop' | 'folder'>;

interface PointLoad extends Pick<OpenLoopPlan, 'singleUse' | 'warmUpSeconds' | 'seconds'> {
  readonly requests: readonly PreparedRequest[];
}

/**
 * Measures the saturation rate of a server: the replies per second in a closed loop, in which each connection sends its
 * next request after a reply. Throws for an unexpected reply.
 */
export async function measureSaturation(
  sender: RequestSender,
  target: LoadTarget,
  load: Omit<PointLoad, 'warmUpSeconds'>,
): Promise<number> {
  await readProcessUsageWhenIdle(target);
  const { achievedPerSecond } = await runClosedLoop(sender, target, { ...load, warmUpSeconds: load.seconds / 2 });
  return achievedPerSecond;
}

/** Sends each request once, in a closed loop. Throws for an unexpected reply. */
export async function sendEachRequestOnce(
  sender: RequestSender,
  target: LoadTarget,
  requests: readonly PreparedRequest[],
): Promise<void> {
  await runClosedLoop(sender, target, {
    requests,
    singleUse: true,
    warmUpSeconds: 0,
    seconds: sendEachOnceSecondsMax,
  });
}

/** Measures one point of a curve with an open-loop load. */
export async function measureLoadPoint(
  sender: RequestSender,
  target: LoadTarget,
  x: number,
  perSecond: number,
  load: PointLoad,
): Promise<LoadCurvePoint> {
  const plan = await prepareLoadPoint(sender, target, perSecond, load);
  const { result, usage, process } = await measureServerUsage(target, () => sender.sendOpenLoop(plan));
  const { achievedPerSecond, latencyMs, refused, failed, lagMs, busy, answered } = result;
  return {
    x,
    offeredPerSecond: perSecond,
    achievedPerSecond,
    latencyMs,
    refused,
    failed,
    cpuMicros: answered === 0 ? null : computeCpuMicrosPerRequest(usage, answered).cpuMicros,
    process,
    client: { lagMs, busy, saturated: isOpenLoopClientSaturated(result) },
  };
}

async function runClosedLoop(sender: RequestSender, target: LoadTarget, load: PointLoad): Promise<OpenLoopResult> {
  const result = await sender.sendOpenLoop(await prepareLoadPoint(sender, target, null, load));
  const unexpected = result.refused + result.failed;
  if (unexpected > 0) throw new Error(`${unexpected} of ${result.due} replies did not have status ${expectedStatus}`);
  if (result.expected === 0) throw new Error('the closed loop got no replies');
  return result;
}

/** Writes the requests to a file and returns the load plan. If `perSecond` is null, the load is a closed loop. */
export async function prepareLoadPoint(
  { folder }: Pick<RequestSender, 'folder'>,
  { port }: Pick<LoadTarget, 'port'>,
  perSecond: number | null,
  { requests, ...load }: PointLoad,
): Promise<OpenLoopPlan> {
  const requestsFile = join(folder, 'requests');
  await writeRequestFile(requestsFile, requests);
  return {
    ...load,
    port,
    requestsFile,
    perSecond,
    connections: perSecond === null ? closedLoopConnections : openLoopConnections,
    queueMax: Math.ceil((perSecond ?? 0) * queueSeconds),
    deadlineMs: 5_000,
    expectedStatus,
  };
}
