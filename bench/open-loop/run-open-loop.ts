import { fileURLToPath } from 'node:url';
import { runChildProcess } from '../target/owned-resources.ts';
import type { OpenLoopPlan, OpenLoopResult } from './open-loop-plan.ts';

const processScript = fileURLToPath(new URL('./open-loop-process.ts', import.meta.url));

/** Runs an open-loop load in a separate process. */
export async function runOpenLoop(plan: OpenLoopPlan): Promise<OpenLoopResult> {
  const output = await runChildProcess(process.execPath, [processScript, JSON.stringify(plan)], {
    timeoutMs: (plan.warmUpSeconds + plan.seconds + 60) * 1_000 + plan.deadlineMs,
  });
  return JSON.parse(output) as OpenLoopResult;
}
