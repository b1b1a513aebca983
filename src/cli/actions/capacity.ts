import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { bounds } from '../../bounds.ts';
import { readMeasurements } from '../../capacity/benchmark-result.ts';
import { CapacityError } from '../../capacity/capacity-error.ts';
import { type CheckMeasurements, type CheckRequest, compareWithPlan } from '../../capacity/check.ts';
import { type CapacityPlan, planCapacity } from '../../capacity/plan.ts';
import { defaultTrafficMixFile, parseTrafficMix, type TrafficMix, toTrafficMix } from '../../capacity/traffic-mix.ts';
import { CommandLineError, exitCodes } from '../command-line-error.ts';
import { printJson, printResult } from '../output.ts';
import { InterruptedError } from '../signals.ts';
import { formatCheck, formatPlan, planToJson } from './capacity-report.ts';

/** Part of a checkout, not of the package: found by its path, never imported (docs/contributing/decisions/packaging.md). */
const checkScript = join(fileURLToPath(new URL('../../..', import.meta.url)), 'bench', 'capacity-check', 'main.ts');

/** Has the benchmarks put a load on a server started for it, and gives what they found. */
export async function runCapacityCheck(order: CheckRequest): Promise<CheckMeasurements> {
  if (!existsSync(checkScript)) {
    throw new CommandLineError(
      'the check needs the benchmarks, which only a checkout has: run make capacity-check KEYS=n SLO=ms in one',
    );
  }
  // It ends by itself when the channel breaks, however this command comes to its end.
  const child = spawn(process.execPath, [checkScript, JSON.stringify(order)], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  // Whoever ends this command ends the check, which takes its server and its client along.
  let interrupted: InterruptedError | null = null;
  const end = (signal: NodeJS.Signals): void => {
    interrupted = new InterruptedError(signal, 'the check was interrupted');
    child.kill('SIGTERM');
  };
  process.once('SIGINT', end).once('SIGTERM', end);
  let output = '';
  child.stdout!.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  const [code] = (await once(child, 'close')) as [number | null];
  process.off('SIGINT', end).off('SIGTERM', end);
  if (interrupted !== null) throw interrupted;
  if (code !== 0) throw new CommandLineError('the check could not be carried out; the reason is above');
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
/** A run on the machine that bench/README.md describes, for those who have not run the benchmarks yet. */
const referenceResultFile = fileURLToPath(new URL('../../capacity/reference-result.json', import.meta.url));
const otherMachineNotice =
  'This machine was not measured: the figures are of the one named above, and those of other machines differ widely. make bench in a checkout measures this one.';

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
  const findings = await runCapacityCheck({
    ratesPerSecond: plan.load.ratesPerSecond,
    seconds: options.seconds,
    initialSessions: Math.min(options.sessions, Math.floor(plan.load.liveSessions)),
  });
  const result = compareWithPlan(plan, findings);
  if (options.json) printJson(planToJson(plan, result));
  else printResult(formatCheck(plan, result));
  if (!result.carried) process.exitCode = exitCodes.failure;
}

function assertPreparable({ load }: CapacityPlan, seconds: number): void {
  const { capacityCheckRequestsMax: most } = bounds;
  if (load.requestsPerSecond * seconds <= most) return;
  const possible = Math.floor(most / load.requestsPerSecond);
  const advice = possible < 1 ? 'this box is too fast for it' : `take --seconds ${possible} or fewer`;
  throw new CommandLineError(`a check prepares at most ${most} requests: ${advice}`, { exitCode: exitCodes.usage });
}

function readMix(file: string | undefined): TrafficMix {
  if (file === undefined) return toTrafficMix(defaultTrafficMixFile);
  return withFileName(file, () => parseTrafficMix(readTextFile(file, bounds.mixFileBytesMax)));
}

function makePlan({ keys, sloP99, headroom, result }: CapacityOptions, mix: TrafficMix): CapacityPlan {
  const measured = result ?? (existsSync(latestResultFile) ? latestResultFile : undefined);
  const file = measured ?? referenceResultFile;
  const figures = withFileName(file, () => readMeasurements(readTextFile(file, bounds.benchResultFileBytesMax), mix));
  const plan = withFileName(null, () =>
    planCapacity(figures, mix, { keys, sloP99Ms: sloP99, headroom: headroom / 100 }),
  );
  return measured === undefined ? { ...plan, caveats: [otherMachineNotice, ...plan.caveats] } : plan;
}

/** What is wrong with a file is told with its name. */
function withFileName<Value>(file: string | null, work: () => Value): Value {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof CapacityError)) throw error;
    throw new CommandLineError(file === null ? error.message : `${file} ${error.message}`, { cause: error });
  }
}

function readTextFile(file: string, bytesMax: number): string {
  try {
    // Looked at first, so that a mistaken path to something huge is not read, and one to a pipe not waited for.
    const stats = statSync(file);
    if (!stats.isFile()) throw new CommandLineError(`${file} must be a file`);
    if (stats.size > bytesMax) throw new CommandLineError(`${file} must be at most ${bytesMax} bytes long`);
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (error instanceof CommandLineError) throw error;
    throw new CommandLineError(`${file} cannot be read: ${(error as Error).message}`, { cause: error });
  }
}
