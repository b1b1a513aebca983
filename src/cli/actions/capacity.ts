import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { bounds } from '../../bounds.ts';
import { readMeasurements } from '../../capacity/benchmark-result.ts';
import {
  type CapacityPlan,
  type CheckMeasurements,
  type CheckRequest,
  compareWithPlan,
  planCapacity,
} from '../../capacity/plan.ts';
import {
  CapacityError,
  defaultTrafficMixFile,
  parseTrafficMix,
  type TrafficMix,
  toTrafficMix,
} from '../../capacity/traffic-mix.ts';
import { CommandLineError, exitCodes } from '../command-line-error.ts';
import { printJson, printResult } from '../output.ts';
import { InterruptedError } from '../signals.ts';
import { formatCheck, formatPlan, planToJson } from './capacity-report.ts';

/** Script that is in a checkout but not in the package: run by its path, never imported (docs/contributing/decisions/packaging.md). */
const checkScript = join(fileURLToPath(new URL('../../..', import.meta.url)), 'bench', 'capacity-check', 'main.ts');

/** Starts a server, sends a load to it, and returns the measurements. */
async function runCapacityCheck(request: CheckRequest): Promise<CheckMeasurements> {
  if (!existsSync(checkScript)) {
    throw new CommandLineError(
      'the check needs the benchmarks, which only a checkout has: run make capacity-check KEYS=n SLO=ms in one',
    );
  }
  // The child exits when the IPC channel closes, even if this process is killed.
  const child = spawn(process.execPath, [checkScript, JSON.stringify(request)], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  let interrupted: InterruptedError | null = null;
  const interrupt = (signal: NodeJS.Signals): void => {
    interrupted = new InterruptedError(signal, 'the check was interrupted');
    child.kill('SIGTERM');
  };
  process.once('SIGINT', interrupt).once('SIGTERM', interrupt);
  let output = '';
  child.stdout!.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  const [code] = (await once(child, 'close')) as [number | null];
  process.off('SIGINT', interrupt).off('SIGTERM', interrupt);
  if (interrupted !== null) throw interrupted;
  if (code !== 0) throw new CommandLineError('the check failed; the reason is above');
  return JSON.parse(output) as CheckMeasurements;
}

export interface CapacityOptions {
  readonly keys: number;
  readonly sloP99: number;
  readonly mix?: string;
  readonly result?: string;
  readonly headroom: number;
  readonly check?: true;
  readonly seconds: number;
  readonly sessions: number;
  readonly json?: true;
}

const latestResultFile = join(fileURLToPath(new URL('../../..', import.meta.url)), 'bench', 'results', 'latest.json');
/** Benchmark result of the machine that bench/README.md describes. Used if no other result is given. */
const referenceResultFile = fileURLToPath(new URL('../../capacity/reference-result.json', import.meta.url));
const otherMachineNotice =
  'This machine was not measured: the figures are those of the server above, and other machines differ widely. Run make bench in a checkout to measure this one.';

export async function printCapacityPlan(options: CapacityOptions): Promise<void> {
  const mix = readMix(options.mix);
  const plan = makePlan(options, mix);
  if (options.check === undefined) {
    if (options.json) printJson(planToJson(plan, null));
    else printResult(formatPlan(plan));
    return;
  }
  assertPreparable(plan, options.seconds);
  if (!options.json) printResult(`${formatPlan(plan)}\n`);
  const measurements = await runCapacityCheck({
    ratesPerSecond: plan.load.ratesPerSecond,
    seconds: options.seconds,
    initialSessions: Math.min(options.sessions, Math.floor(plan.load.liveSessions)),
  });
  const result = compareWithPlan(plan, measurements);
  if (options.json) printJson(planToJson(plan, result));
  else printResult(formatCheck(plan, result));
  if (!result.carried) process.exitCode = exitCodes.failure;
}

function assertPreparable({ load }: CapacityPlan, seconds: number): void {
  const { capacityCheckRequestsMax: max } = bounds;
  if (load.requestsPerSecond * seconds <= max) return;
  const possible = Math.floor(max / load.requestsPerSecond);
  const advice = possible < 1 ? 'this server is too fast for a check' : `use --seconds ${possible} or fewer`;
  throw new CommandLineError(`a check prepares at most ${max} requests: ${advice}`, { exitCode: exitCodes.usage });
}

function readMix(file: string | undefined): TrafficMix {
  if (file === undefined) return toTrafficMix(defaultTrafficMixFile);
  return withFileName(file, () => parseTrafficMix(readTextFile(file, bounds.mixFileBytesMax)));
}

function makePlan({ keys, sloP99, headroom, result }: CapacityOptions, mix: TrafficMix): CapacityPlan {
  const measuredFile = result ?? (existsSync(latestResultFile) ? latestResultFile : undefined);
  const file = measuredFile ?? referenceResultFile;
  const measurements = withFileName(file, () =>
    readMeasurements(readTextFile(file, bounds.benchResultFileBytesMax), mix),
  );
  const plan = withFileName(null, () =>
    planCapacity(measurements, mix, { keys, sloP99Ms: sloP99, headroom: headroom / 100 }),
  );
  return measuredFile === undefined ? { ...plan, caveats: [otherMachineNotice, ...plan.caveats] } : plan;
}

/** Runs a function and adds the name of the file to a `CapacityError` that it throws. */
function withFileName<Value>(file: string | null, run: () => Value): Value {
  try {
    return run();
  } catch (error) {
    if (!(error instanceof CapacityError)) throw error;
    throw new CommandLineError(file === null ? error.message : `${file} ${error.message}`, { cause: error });
  }
}

function readTextFile(file: string, bytesMax: number): string {
  try {
    // The file is checked before it is read, because it could be huge, or a pipe that blocks the command.
    const stats = statSync(file);
    if (!stats.isFile()) throw new CommandLineError(`${file} must be a file`);
    if (stats.size > bytesMax) throw new CommandLineError(`${file} must be at most ${bytesMax} bytes long`);
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (error instanceof CommandLineError) throw error;
    throw new CommandLineError(`${file} cannot be read: ${(error as Error).message}`, { cause: error });
  }
}
