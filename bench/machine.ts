import { execFileSync } from 'node:child_process';
import { cpus, loadavg, type as osType, release, totalmem } from 'node:os';

/** Returns the commit of the Git checkout, with suffix `+` if files are changed; null outside a checkout. */
export function describeCommit(): string | null {
  const git = (...args: string[]) =>
    execFileSync('git', args, {
      cwd: import.meta.dirname,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  try {
    const changed = git('status', '--porcelain', '--untracked-files=no') !== '';
    return `${git('rev-parse', '--short=12', 'HEAD')}${changed ? '+' : ''}`;
  } catch {
    return null;
  }
}

/** Machine on which the benchmarks ran. */
export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGiB: number;
  readonly system: string;
  readonly node: string;
  /** File system and disk of the data folders. */
  readonly disk: string;
  /** Load average at the start of the benchmarks. A high load average means that other processes were active. */
  readonly loadAverage: number;
}

export function describeMachine(folder: string): Machine {
  return {
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: cpus().length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    system: `${osType()} ${release()}`,
    node: process.version,
    disk: fileSystem(folder),
    loadAverage: loadavg()[0]!,
  };
}

function fileSystem(folder: string): string {
  try {
    const lines = execFileSync('df', ['-PT', folder], { encoding: 'utf8' }).trim().split('\n');
    const [device, kind] = lines.at(-1)!.split(/\s+/);
    return `${kind} on ${device}`;
  } catch {
    return 'unknown';
  }
}

/** Whether other processes use the machine: its load average is above half of its cores. */
export function isBusyMachine({ loadAverage, cores }: Pick<Machine, 'loadAverage' | 'cores'>): boolean {
  return loadAverage > cores / 2;
}

/** Returns a warning if other processes use the machine; otherwise null. */
export function busyMachineWarning(machine: Machine): string | null {
  if (!isBusyMachine(machine)) return null;
  const { loadAverage } = machine;
  return `BUSY MACHINE (load average ${loadAverage.toFixed(1)}): the noise is larger, so smaller losses are not found.`;
}
