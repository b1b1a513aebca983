import type { LoadClient, LoadPlan } from '../load/load-client.ts';
import type { Measurement } from '../result/measurement.ts';
import { cpuPerRequest } from '../target/cpu-cost.ts';
import { readProcessUsage } from '../target/process-usage.ts';
import { type LoadTarget, readUsageWhenIdle } from '../target/target.ts';

/**
 * One load on a server that is quiet, until it is quiet again. Throws when any answer was not an expected one: a faster refusal
 * must never pass for a faster server.
 */
export async function measureLoad(target: LoadTarget, client: LoadClient, plan: LoadPlan): Promise<Measurement> {
  const before = readProcessUsage(target.pid);
  await target.probe.start();
  const { unexpected, ...result } = await client.run(plan);
  const process = await target.probe.stop();
  const after = await readUsageWhenIdle(target);
  if (unexpected > 0) {
    const expected = [plan.expectedStatus, ...(plan.alsoExpected ?? [])].join(' or ');
    throw new Error(`${unexpected} of ${result.requests} answers were not ${expected}`);
  }
  if (result.requests === 0) throw new Error('the load had no answer at all');
  return {
    ...result,
    perSecond: result.requests / result.seconds,
    ...cpuPerRequest(before, after, result.requests),
    process,
  };
}
