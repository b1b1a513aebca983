/**
 * Load clients that send a fixed number of real requests, without a time limit, and report invented latencies and
 * rates. The result of a test with these clients does not depend on the speed of the machine.
 */
import type { ProgressPrinter } from '../../../bench/bench-part.ts';
import { HttpCaller, type HttpResponse } from '../../../bench/load/http-caller.ts';
import type { LoadClient, LoadPlan } from '../../../bench/load/load-clients.ts';
import { readRequestFile } from '../../../bench/load/prepared-request.ts';
import type { OpenLoopRunner } from '../../../bench/open-loop/open-loop-plan.ts';

/** Maximum number of requests of one load: far below the limits of the keys that the tests create. */
const requestsMax = 300;
const connections = 4;

export const silentProgress: ProgressPrinter = { printProgress: () => {}, printLine: () => {} };

/** Latencies that every load reports, in milliseconds. */
export const countedLatencyMs = { p50: 1, p99: 2, p999: 3 } as const;

export const countedClient: LoadClient = {
  name: 'autocannon',
  run: async (plan) => {
    const { answered, expected } = await sendSome(plan);
    return {
      requests: answered,
      seconds: 1,
      unexpected: answered - expected,
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
export function countedOpenLoop(saturationPerSecond: (closedLoop: number) => number): OpenLoopRunner {
  let closedLoops = 0;
  let saturation = Number.POSITIVE_INFINITY;
  return async (plan) => {
    const { answered, expected } = await sendSome(plan);
    if (plan.perSecond === null) saturation = saturationPerSecond(closedLoops++);
    return {
      due: answered,
      expected,
      refused: 0,
      failed: answered - expected,
      achievedPerSecond: Math.min(plan.perSecond ?? saturation, saturation),
      latencyMs: countedLatencyMs,
      lagMs: countedLatencyMs,
      busy: 0.1,
      answered,
    };
  };
}

/** Sends the first requests and counts the responses. */
async function sendSome({ port, requestsFile, expectedStatus }: LoadPlan) {
  const requests = (await readRequestFile(requestsFile)).slice(0, requestsMax);
  const caller = new HttpCaller(port, connections);
  const answers = await caller.sendRequests(requests).finally(() => caller.close());
  const isExpected = ({ status }: HttpResponse) => status === expectedStatus;
  const other = answers.find((answer) => !isExpected(answer));
  if (other !== undefined) console.error(`unexpected status ${other.status}: ${other.body.slice(0, 300)}`);
  return { answered: answers.length, expected: answers.filter(isExpected).length };
}
