import { readFileSync } from 'node:fs';

/** CPU time a process has used so far, in seconds. */
export interface ProcessUsage {
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
