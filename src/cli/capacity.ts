import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { bounds } from '../bounds.ts';
import { CapacityError } from '../capacity/capacity-error.ts';
import { compareWithPlan } from '../capacity/check.ts';
import { defaultMixFile, type Mix, mixOf, parseMix } from '../capacity/mix.ts';
import { type Plan, planCapacity } from '../capacity/plan.ts';
import { readFigures } from '../capacity/read-figures.ts';
import { runCapacityCheck } from './capacity-check.ts';
import { capacityJson } from './capacity-json.ts';
import { checkText, planText } from './capacity-text.ts';
import { CommandLineError } from './command-line-error.ts';
import { exitCodes } from './exit-codes.ts';
import { printJson, printResult } from './output.ts';

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

const latestResult = join(fileURLToPath(new URL('../..', import.meta.url)), 'bench', 'results', 'latest.json');
/** A run on the machine that bench/README.md describes, for those who have not run the benchmarks yet. */
const referenceResult = fileURLToPath(new URL('../capacity/reference-result.json', import.meta.url));
const notThisMachine =
  'This machine was not measured: the figures are of the one named above, and those of other machines differ widely. make bench in a checkout measures this one.';

export async function capacity(options: CapacityOptions): Promise<void> {
  const mix = mixFrom(options.mix);
  const plan = planFrom(options, mix);
  if (options.check === undefined) {
    if (options.json) printJson(capacityJson(plan, null));
    else printResult(planText(plan));
    return;
  }
  requirePreparable(plan, options.seconds);
  if (!options.json) printResult(`${planText(plan)}\n`);
  const findings = await runCapacityCheck({
    ratesPerSecond: plan.load.ratesPerSecond,
    seconds: options.seconds,
    sessionsBefore: Math.min(options.sessions, Math.floor(plan.load.liveSessions)),
  });
  const result = compareWithPlan(plan, findings);
  if (options.json) printJson(capacityJson(plan, result));
  else printResult(checkText(plan, result));
  if (!result.carried) process.exitCode = exitCodes.failure;
}

function requirePreparable({ load }: Plan, seconds: number): void {
  const { capacityCheckRequestsMax: most } = bounds;
  if (load.requestsPerSecond * seconds <= most) return;
  const possible = Math.floor(most / load.requestsPerSecond);
  const advice = possible < 1 ? 'this box is too fast for it' : `take --seconds ${possible} or fewer`;
  throw new CommandLineError(`a check prepares at most ${most} requests: ${advice}`, { exitCode: exitCodes.usage });
}

function mixFrom(file: string | undefined): Mix {
  if (file === undefined) return mixOf(defaultMixFile);
  return about(file, () => parseMix(readText(file, bounds.mixFileBytesMax)));
}

function planFrom({ keys, sloP99, headroom, result }: CapacityOptions, mix: Mix): Plan {
  const measured = result ?? (existsSync(latestResult) ? latestResult : undefined);
  const file = measured ?? referenceResult;
  const figures = about(file, () => readFigures(readText(file, bounds.benchResultBytesMax), mix));
  const plan = about(null, () => planCapacity(figures, mix, { keys, sloP99Ms: sloP99, headroom: headroom / 100 }));
  return measured === undefined ? { ...plan, beyond: [notThisMachine, ...plan.beyond] } : plan;
}

/** What is wrong with a file is told with its name. */
function about<Value>(file: string | null, work: () => Value): Value {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof CapacityError)) throw error;
    throw new CommandLineError(file === null ? error.message : `${file} ${error.message}`, { cause: error });
  }
}

function readText(file: string, bytesMax: number): string {
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
