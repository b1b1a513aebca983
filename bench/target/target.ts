import { setTimeout as sleep } from 'node:timers/promises';
import type { ProcessProbe } from './process-probe.ts';
import { type ProcessUsage, readProcessUsage } from './process-usage.ts';

/** A server under load, in a process of its own. */
export interface Target {
  readonly port: number;
  readonly pid: number;
  readonly probe: ProcessProbe;
  close(): Promise<void>;
}

const quietCheckMs = 100;
/** A process that used less than this share of one core since the last look is quiet. */
const quietShare = 0.05;
const quietWaitMs = 20_000;

/**
 * Waits until a server has finished what its last load left behind (events still being folded, garbage), so that it
 * neither slows the other server's round nor hides its cost; gives its CPU time so far.
 */
export async function usageWhenQuiet(target: Target): Promise<ProcessUsage | null> {
  let before = readProcessUsage(target.pid);
  for (let waited = 0; before !== null && waited < quietWaitMs; waited += quietCheckMs) {
    await sleep(quietCheckMs);
    const now = readProcessUsage(target.pid);
    if (now === null || now.allThreads - before.allThreads < (quietShare * quietCheckMs) / 1000) return now;
    before = now;
  }
  return before;
}
