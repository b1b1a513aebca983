/**
 * Load clients that send a fixed number of real requests, without a time limit, and report invented latencies and
 * rates. The result of a test with these clients does not depend on the speed of the machine.
 */
import { HttpCaller } from '../../../bench/load/http-caller.ts';
import type { LoadClient } from '../../../bench/load/load-clients.ts';
import { readRequests } from '../../../bench/load/prepared-request.ts';
import type { OpenLoopPlan, OpenLoopResult, OpenLoopRunner } from '../../../bench/open-loop/open-loop-plan.ts';

/** Maximum number of requests of one load: far below the limits of the keys that the tests create. */
const requestsMax = 300;
const connections = 4;

/** Latencies that every load reports, in milliseconds. */
export const countedLatencyMs = { p50: 1, p99: 2, p999: 3 } as const;

export const countedClient: LoadClient = {
  name: 'autocannon',
  run: async (plan) => {
    const statuses = await sendSome(plan);
    const requests = sumOf(statuses, () => true);
    const expected = isExpectedIn(plan);
    return {
      requests,
      seconds: 1,
      unexpected: sumOf(statuses, (status) => !expected(status)),
      latencyMs: countedLatencyMs,
      clientCpuSeconds: 0.1,
    };
  },
};

/**
 * Creates a runner of open loops.
 *
 * @param saturationPerSecond returns the responses per second of a closed loop, by its index from 0. Later loads on
 * schedule cannot exceed this rate.
 */
export function countedOpenLoop(saturationPerSecond: (closedLoop: number) => number = () => 1_000): OpenLoopRunner {
  let closedLoops = 0;
  let saturation = Number.POSITIVE_INFINITY;
  return async (plan): Promise<OpenLoopResult> => {
    const statuses = await sendSome(plan);
    if (plan.perSecond === null) saturation = saturationPerSecond(closedLoops++);
    const answered = sumOf(statuses, () => true);
    const expected = sumOf(statuses, isExpectedIn(plan));
    return {
      due: answered,
      expected,
      refused: 0,
      failed: { status: answered - expected, connection: 0, deadline: 0, notSent: 0 },
      achievedPerSecond: Math.min(plan.perSecond ?? saturation, saturation),
      latencyMs: countedLatencyMs,
      lagMs: countedLatencyMs,
      busy: 0.1,
      clientCpuSeconds: 0.1,
      answered,
    };
  };
}

type Sent = Pick<OpenLoopPlan, 'port' | 'requestsFile'>;

/** Counts the responses by status. */
async function sendSome({ port, requestsFile }: Sent): Promise<Map<number, number>> {
  const requests = await readRequests(requestsFile);
  const caller = new HttpCaller(port, connections);
  try {
    return await caller.countStatuses(requests, Math.min(requests.length, requestsMax));
  } finally {
    caller.close();
  }
}

function isExpectedIn({ expectedStatus, alsoExpected = [] }: Pick<OpenLoopPlan, 'expectedStatus' | 'alsoExpected'>) {
  return (status: number) => status === expectedStatus || alsoExpected.includes(status);
}

function sumOf(statuses: ReadonlyMap<number, number>, counts: (status: number) => boolean): number {
  return [...statuses].reduce((sum, [status, times]) => sum + (counts(status) ? times : 0), 0);
}
