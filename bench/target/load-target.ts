import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ServerMeasurement, ServerResourceUsage } from '../result/bench-result.ts';
import type { ProcessProbe } from './process-probe.ts';

/** CPU time of a process in seconds. */
interface ProcessUsage {
  /** CPU time of all running threads. */
  readonly allThreadsSeconds: number;
  /** CPU time of the main thread, which serves the sockets. */
  readonly mainThreadSeconds: number;
}

/** Reads the CPU time of a process from `/proc`; null on systems without `/proc/<pid>/schedstat`. */
export function readProcessUsage(pid: number): ProcessUsage | null {
  try {
    const mainThreadSeconds = readThreadSeconds(pid, String(pid));
    const threads = readdirSync(`/proc/${pid}/task`).map((thread) => readThreadSeconds(pid, thread));
    return { mainThreadSeconds, allThreadsSeconds: threads.reduce((sum, seconds) => sum + seconds, 0) };
  } catch {
    return null;
  }
}

/** Returns the CPU time of a thread. The first field of `schedstat` is in nanoseconds; `stat` has only ticks of 10 ms. */
function readThreadSeconds(pid: number, thread: string): number {
  return Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]) / 1e9;
}

/** Returns the ids of the running child processes of a process; empty if the process has ended or the system has no `/proc`. */
export function listChildPids(pid: number): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
  } catch {
    return [];
  }
}

/** Server that runs in its own process and receives the loads of the benchmarks. */
export interface LoadTarget {
  readonly port: number;
  readonly pid: number;
  /** Ids of other processes whose CPU time counts as CPU time of the server, such as a database. */
  readonly otherPids?: () => readonly number[];
  readonly probe: ProcessProbe;
  close(): Promise<void>;
}

const idlePollMs = 100;
/** Maximum CPU usage of a process that counts as idle, as a share of one core. */
const idleCpuShare = 0.05;
const idleTimeoutMs = 20_000;

/** Reads the CPU time of a server, with that of its other processes in `allThreadsSeconds`. */
function readServerUsage({ pid, otherPids }: LoadTarget): ProcessUsage | null {
  const own = readProcessUsage(pid);
  if (own === null || otherPids === undefined) return own;
  const others = otherPids().map((other) => readProcessUsage(other)?.allThreadsSeconds ?? 0);
  return { ...own, allThreadsSeconds: others.reduce((sum, seconds) => sum + seconds, own.allThreadsSeconds) };
}

/**
 * Waits until a server has finished the background work of the last load, such as updates of the analytics store and garbage
 * collection. Returns the CPU time of the server.
 */
export async function readProcessUsageWhenIdle(target: LoadTarget): Promise<ProcessUsage | null> {
  let before = readServerUsage(target);
  for (let waited = 0; before !== null && waited < idleTimeoutMs; waited += idlePollMs) {
    await sleep(idlePollMs);
    const now = readServerUsage(target);
    if (now === null || now.allThreadsSeconds - before.allThreadsSeconds < (idleCpuShare * idlePollMs) / 1000)
      return now;
    before = now;
  }
  return before;
}

/**
 * Runs a load on an idle server and waits until the server is idle again. Returns the result of the load, and the CPU time and other
 * figures of the server. Figures that the system does not report are null.
 */
export async function measureServerUsage<Result>(
  target: LoadTarget,
  load: () => Promise<Result>,
): Promise<{ result: Result; usage: ProcessUsage | null; process: ServerResourceUsage | null }> {
  const before = await readProcessUsageWhenIdle(target);
  await target.probe.start();
  const result = await load();
  const process = await target.probe.stop();
  const after = await readProcessUsageWhenIdle(target);
  const usage =
    before === null || after === null
      ? null
      : {
          allThreadsSeconds: after.allThreadsSeconds - before.allThreadsSeconds,
          mainThreadSeconds: after.mainThreadSeconds - before.mainThreadSeconds,
        };
  return { result, usage, process };
}

/** Returns the CPU time per request; null if the CPU time is unknown. */
export function computeCpuMicrosPerRequest(
  usage: ProcessUsage | null,
  requests: number,
): Pick<ServerMeasurement, 'cpuMicros' | 'mainThreadCpuMicros'> {
  if (usage === null) return { cpuMicros: null, mainThreadCpuMicros: null };
  return {
    cpuMicros: (usage.allThreadsSeconds * 1e6) / requests,
    mainThreadCpuMicros: (usage.mainThreadSeconds * 1e6) / requests,
  };
}

/** Returns the memory of a server after garbage collection; null if the server does not report its memory. */
export async function readMemoryAfterGc({
  probe,
}: LoadTarget): Promise<Pick<ServerResourceUsage, 'heapUsedMiB' | 'rssMiB'> | null> {
  await probe.collectGarbage();
  await probe.start();
  const figures = await probe.stop();
  return figures === null ? null : { heapUsedMiB: figures.heapUsedMiB, rssMiB: figures.rssMiB };
}
