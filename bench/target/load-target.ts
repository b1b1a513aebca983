import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Measurement, ProcessFigures } from '../result/bench-result.ts';
import type { ProcessProbe } from './process-probe.ts';

/** CPU time a process has used so far, in seconds. */
interface ProcessUsage {
  /** All threads, also those that have ended. */
  readonly allThreads: number;
  /** The main thread: the one that serves sockets. */
  readonly mainThread: number;
}

/** Linux counts CPU time for `/proc` in hundredths of a second on every architecture Node.js runs on. */
const ticksPerSecond = 100;

/** Reads `/proc`; null where there is none (macOS), so that figures of CPU time are left out there. */
export function readProcessUsage(pid: number): ProcessUsage | null {
  try {
    return {
      allThreads: parseCpuSeconds(readFileSync(`/proc/${pid}/stat`, 'utf8')),
      mainThread: parseCpuSeconds(readFileSync(`/proc/${pid}/task/${pid}/stat`, 'utf8')),
    };
  } catch {
    return null;
  }
}

/** User and system time of one `stat` line, in seconds. The name in its second field may hold spaces and brackets. */
export function parseCpuSeconds(stat: string): number {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  // The third field of the line is the first behind the name; user and system time are the 14th and 15th.
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}

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

/** CPU time a server took for one of so many requests, from before the load until it was quiet again; nulls where nobody tells. */
export function cpuPerRequest(
  before: ProcessUsage | null,
  after: ProcessUsage | null,
  requests: number,
): Pick<Measurement, 'cpuMicros' | 'mainThreadCpuMicros'> {
  if (before === null || after === null) return { cpuMicros: null, mainThreadCpuMicros: null };
  const micros = (seconds: number) => (seconds * 1e6) / requests;
  return {
    cpuMicros: micros(after.allThreads - before.allThreads),
    mainThreadCpuMicros: micros(after.mainThread - before.mainThread),
  };
}

/** What a server holds in memory once its garbage has been collected; null where it cannot tell. */
export async function readMemoryAfterGc({
  probe,
}: LoadTarget): Promise<Pick<ProcessFigures, 'heapUsedMiB' | 'rssMiB'> | null> {
  await probe.collectGarbage();
  await probe.start();
  const figures = await probe.stop();
  if (figures === null) return null;
  const { heapUsedMiB, rssMiB } = figures;
  return { heapUsedMiB, rssMiB };
}
