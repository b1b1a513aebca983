import type { ChildProcess } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { spawnChild } from '../target/owned-resources.ts';
import type { LoadClient, LoadPlan, LoadResult } from './load-client.ts';

const script = fileURLToPath(new URL('./autocannon-process.ts', import.meta.url));

/** Maximum number of client threads: half of the CPU cores. The server uses the other half. */
const threadCount = (cores: number) => Math.max(1, Math.floor(cores / 2));

/** Maximum time to wait for the client after the end of a load. */
const timeoutMarginMs = 60_000;

/** Idle client processes. They do not keep this process alive, and exit when this process exits. */
const idleProcesses: ChildProcess[] = [];

/** Runs autocannon in its own process, so that its CPU time can be measured. */
export const autocannonClient: LoadClient = createAutocannonClient(threadCount(availableParallelism()));

export function createAutocannonClient(threads: number): LoadClient {
  return { name: 'autocannon', run: (plan) => runPlan(plan, threads) };
}

async function runPlan(plan: LoadPlan, threads: number): Promise<LoadResult> {
  const at = idleProcesses.findIndex(({ spawnargs }) => spawnargs.at(-1) === String(threads));
  const child = at === -1 ? startProcess(threads) : idleProcesses.splice(at, 1)[0]!;
  child.ref();
  child.channel!.ref();
  const timer = setTimeout(() => child.kill('SIGKILL'), plan.seconds * 1000 + timeoutMarginMs);
  try {
    return await new Promise<LoadResult>((resolve, reject) => {
      const lost = () => reject(new Error('the autocannon client exited before the end of the load'));
      child.once('exit', lost);
      child.once('message', (result) => {
        child.off('exit', lost);
        idleProcesses.push(child);
        resolve(result as LoadResult);
      });
      child.send(plan);
    });
  } finally {
    clearTimeout(timer);
    child.channel?.unref();
    child.unref();
  }
}

function startProcess(threads: number): ChildProcess {
  return spawnChild(process.execPath, [script, String(threads)], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
}
