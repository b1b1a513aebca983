import type { ChildProcess } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { spawnOwned } from '../target/child-process.ts';
import type { LoadClient, LoadPlan, LoadResult } from './load-client.ts';

const script = fileURLToPath(new URL('./autocannon-process.ts', import.meta.url));

/** Half of the cores: the other half is the server's. */
const threadsFor = (cores: number) => Math.max(1, Math.floor(cores / 2));

/** Beyond this the client itself has hung. */
const overtimeMs = 60_000;

/** Waits for the next plan; none of them keeps this process alive, and none outlives it. */
const idle: ChildProcess[] = [];

/** autocannon in a process of its own, so that its work is not done in a thread of ours and its CPU time can be told. */
export const autocannonClient: LoadClient = autocannonClientOf(threadsFor(availableParallelism()));

export function autocannonClientOf(threads: number): LoadClient {
  return { name: 'autocannon', run: (plan) => carryOut(plan, threads) };
}

async function carryOut(plan: LoadPlan, threads: number): Promise<LoadResult> {
  const at = idle.findIndex(({ spawnargs }) => spawnargs.at(-1) === String(threads));
  const child = at === -1 ? start(threads) : idle.splice(at, 1)[0]!;
  child.ref();
  child.channel!.ref();
  const timer = setTimeout(() => child.kill('SIGKILL'), plan.seconds * 1000 + overtimeMs);
  try {
    return await new Promise<LoadResult>((resolve, reject) => {
      const lost = () => reject(new Error('the autocannon client ended before its load did'));
      child.once('exit', lost);
      child.once('message', (result) => {
        child.off('exit', lost);
        idle.push(child);
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

function start(threads: number): ChildProcess {
  return spawnOwned(process.execPath, [script, String(threads)], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
}
