import { readFileSync } from 'node:fs';
import { isBusyMachine, type Machine } from '../machine.ts';
import { listChildPids } from '../target/load-target.ts';

/** CPU time in seconds since the start of the machine, on Linux. */
export interface CpuUsage {
  readonly atMs: number;
  /** All processes and the kernel, and time that the hypervisor gave to other machines. */
  readonly machineSeconds: number;
  /** This process and its child processes, also those that have ended. */
  readonly ownSeconds: number;
}

/** Maximum share of the processors that other programs may use during a run whose results are published. */
const otherProgramsShareMax = 0.1;

/** Clock ticks per second in `/proc/stat`. */
const ticksPerSecond = 100;

/** Reads the CPU usage of the machine from `/proc`; null on systems without `/proc`. */
export function readCpuUsage(): CpuUsage | null {
  try {
    const [user, nice, system, , , irq, softIrq, steal] = readFileSync('/proc/stat', 'utf8')
      .split('\n', 1)[0]!
      .split(/\s+/)
      .slice(1)
      .map(Number) as [number, number, number, number, number, number, number, number];
    const machineSeconds = (user + nice + system + irq + softIrq + steal) / ticksPerSecond;
    return { atMs: performance.now(), machineSeconds, ownSeconds: readTreeSeconds(process.pid) };
  } catch {
    return null;
  }
}

/** Returns the CPU time of a process and of its child processes in seconds: fields 14 to 17 of `/proc/<pid>/stat` include ended children. */
function readTreeSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The array starts with field 3, behind the process name in brackets, which may contain spaces.
  const times = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 15);
  const own = times.reduce((sum, ticks) => sum + Number(ticks), 0) / ticksPerSecond;
  return listChildPids(pid).reduce((sum, child) => sum + readTreeSeconds(child), own);
}

/** Returns why results of a run that starts now could not be published; null if they could. */
export function findProblemBeforeRun(machine: Pick<Machine, 'loadAverage' | 'cores'>): string | null {
  if (!isBusyMachine(machine)) return null;
  const { loadAverage, cores } = machine;
  return (
    `the load average is ${loadAverage.toFixed(1)}, above ${cores / 2} for ${cores} cores: other programs would spoil the figures. ` +
    'Wait until the machine is idle, or run without --publish'
  );
}

/** Returns why the results of a run must not be published; null if they may be. */
export function findProblemAfterRun(before: CpuUsage, after: CpuUsage, cores: number): string | null {
  const others = after.machineSeconds - before.machineSeconds - (after.ownSeconds - before.ownSeconds);
  const share = others / (((after.atMs - before.atMs) / 1_000) * cores);
  if (share <= otherProgramsShareMax) return null;
  return (
    `other programs used ${Math.round(100 * share)} % of the processors during the run, more than ${100 * otherProgramsShareMax} %: nothing ` +
    'was published. Stop them and repeat the run'
  );
}
