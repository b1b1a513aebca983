import { setTimeout as sleep } from 'node:timers/promises';
import type { ProcessProbe } from './process-probe.ts';
import { type ProcessUsage, readProcessUsage } from './process-usage.ts';

/** A server under load, in a process of its own. */
export interface LoadTarget {
  readonly port: number;
  readonly pid: number;
  readonly probe: ProcessProbe;
  close(): Promise<void>;
}

const idlePollMs = 100;
/** A process that used less than this share of one core since the last look is quiet. */
const idleCpuShare = 0.05;
const idleTimeoutMs = 20_000;

/**
 * Waits until a server has finished what its last load left behind (events still being folded, garbage), so that it
 * neither slows the other server's round nor hides its cost; gives its CPU time so far.
 */
export async function readUsageWhenIdle(target: LoadTarget): Promise<ProcessUsage | null> {
  let before = readProcessUsage(target.pid);
  for (let waited = 0; before !== null && waited < idleTimeoutMs; waited += idlePollMs) {
    await sleep(idlePollMs);
    const now = readProcessUsage(target.pid);
    if (now === null || now.allThreads - before.allThreads < (idleCpuShare * idlePollMs) / 1000) return now;
    before = now;
  }
  return before;
}
