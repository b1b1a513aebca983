import { join } from 'node:path';
import { type PreparedRequest, writeRequests } from '../load/prepared-request.ts';
import { clientSaturated } from '../open-loop/client-saturated.ts';
import { failedInAll, type OpenLoopPlan, type OpenLoopResult, type SendOpenLoop } from '../open-loop/open-loop-plan.ts';
import type { CurvePoint } from '../result/curve-result.ts';
import { type Target, usageWhenQuiet } from '../target/target.ts';

/** Connections of the closed loop that finds saturation: as many as the other loads have. */
const closedConnections = 64;
/** Of a load on schedule: enough that they are what runs out only when the server is far behind. */
const openConnections = 256;
/** Requests waiting for a connection, in seconds of the schedule: as long as the service itself would give them. */
const waitingSeconds = 2;
const deadlineMs = 5_000;
const seed = 17;
const expectedStatus = 200;
const askOnceSecondsMax = 60;

export interface LoadWanted {
  readonly requestsFile: string;
  readonly once: boolean;
  readonly warmUpSeconds: number;
  readonly seconds: number;
}

/** Answers a second of a closed loop, by the very client that the load on schedule comes from. Throws at any other answer. */
export async function findSaturation(
  send: SendOpenLoop,
  target: Target,
  load: Omit<LoadWanted, 'warmUpSeconds'>,
): Promise<number> {
  await usageWhenQuiet(target);
  const result = await runClosedLoop(send, target, { ...load, warmUpSeconds: load.seconds / 2 });
  return result.achievedPerSecond;
}

/** Sends each of these requests once, as fast as answers come. Throws when any answer is another than expected. */
export async function askOnce(
  send: SendOpenLoop,
  target: Target,
  folder: string,
  requests: readonly PreparedRequest[],
): Promise<void> {
  const requestsFile = join(folder, 'requests-once');
  await writeRequests(requestsFile, requests);
  await runClosedLoop(send, target, { requestsFile, once: true, warmUpSeconds: 0, seconds: askOnceSecondsMax });
}

/** One point of a curve: a load on schedule, and what server and client made of it. */
export async function loadPoint(
  send: SendOpenLoop,
  target: Target,
  x: number,
  perSecond: number,
  load: LoadWanted,
): Promise<CurvePoint> {
  const before = await usageWhenQuiet(target);
  await target.probe.begin();
  const result = await send({
    ...planOf(target, load),
    perSecond,
    connections: openConnections,
    waitingMax: Math.ceil(perSecond * waitingSeconds),
  });
  const process = await target.probe.end();
  const after = await usageWhenQuiet(target);
  const cpuKnown = before !== null && after !== null && result.answered > 0;
  const { achievedPerSecond, latencyMs, refused, lagMs, busy } = result;
  return {
    x,
    offeredPerSecond: perSecond,
    achievedPerSecond,
    latencyMs,
    refused,
    failed: failedInAll(result.failed),
    cpuMicros: cpuKnown ? ((after.allThreads - before.allThreads) * 1e6) / result.answered : null,
    process,
    client: { lagMs, busy, saturated: clientSaturated(result) },
  };
}

async function runClosedLoop(send: SendOpenLoop, target: Target, load: LoadWanted): Promise<OpenLoopResult> {
  const result = await send({
    ...planOf(target, load),
    perSecond: null,
    connections: closedConnections,
    waitingMax: 0,
  });
  const unexpected = result.refused + failedInAll(result.failed);
  if (unexpected > 0) throw new Error(`${unexpected} of ${result.due} answers were not ${expectedStatus}`);
  if (result.expected === 0) throw new Error('the closed loop had no answer at all');
  return result;
}

function planOf(
  { port }: Target,
  { requestsFile, once, warmUpSeconds, seconds }: LoadWanted,
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
