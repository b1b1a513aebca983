import type { ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { spawnChildProcess } from '../target/owned-resources.ts';
import type { LoadClient, LoadPlan, LoadRunResult } from './load-clients.ts';

const script = fileURLToPath(new URL('./autocannon-process.ts', import.meta.url));

/** Maximum time to wait for the result of the client after the end of a load. */
const timeoutMarginMs = 60_000;

/** Idle autocannon process, which the next load reuses, because its code is already compiled. Exits when the benchmark exits. */
let idleProcess: ChildProcess | null = null;

/** Runs autocannon in its own process, so that its CPU time can be measured. */
export const autocannonClient: LoadClient = { name: 'autocannon', run: runPlan };

async function runPlan(plan: LoadPlan): Promise<LoadRunResult> {
  const child =
    idleProcess ?? spawnChildProcess(process.execPath, [script], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  idleProcess = null;
  child.ref();
  child.channel!.ref();
  const timer = setTimeout(() => child.kill('SIGKILL'), plan.seconds * 1000 + timeoutMarginMs);
  try {
    return await new Promise<LoadRunResult>((resolve, reject) => {
      const lost = () => reject(new Error('the autocannon client exited before the end of the load'));
      child.once('exit', lost);
      child.once('message', (result) => {
        child.off('exit', lost);
        idleProcess = child;
        resolve(result as LoadRunResult);
      });
      child.send(plan);
    });
  } finally {
    clearTimeout(timer);
    child.channel?.unref();
    child.unref();
  }
}
