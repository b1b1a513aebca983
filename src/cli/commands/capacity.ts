import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { type Command, InvalidArgumentError } from 'commander';
import { bounds } from '../../bounds.ts';
import { readMeasurements } from '../../capacity/benchmark-result.ts';
import {
  type CapacityCheckMeasurements,
  type CapacityCheckRequest,
  type CapacityPlan,
  compareMeasurementWithPlan,
  planCapacity,
} from '../../capacity/plan.ts';
import {
  CapacityPlanError,
  defaultTrafficMixFile,
  parseTrafficMix,
  type TrafficMix,
  toTrafficMix,
} from '../../capacity/traffic-mix.ts';
import { readRegularFile } from '../../files/regular-file.ts';
import { CommandLineError, createIntegerParser, defineCommand, exitCodes } from '../command.ts';
import { printJson, printResult } from '../output.ts';
import { runInterruptible } from '../signals.ts';
import { capacityPlanToJson, formatCapacityCheck, formatPlan } from './capacity-report.ts';

const defaultHeadroomPercent = 20;
const defaultCheckSeconds = 60;
const defaultCheckSessions = 100_000;

export function createCommand(): Command {
  return defineCommand('capacity', {
    description:
      'Computes from a benchmark result (make bench) how many servers like the measured one can serve a number of API keys at their full limits, and which resource is the bottleneck. Without a benchmark result of this machine, the command uses the shipped result of another machine and prints a notice. docs/capacity.md lists the limits of the model.',
    examples: [
      'marketplace capacity --keys 1000 --slo-p99 50',
      'marketplace capacity --keys 1000 --slo-p99 50 --mix bench/mixes/default.json --headroom 30 --json | jq .boxes',
      'marketplace capacity --keys 1000 --slo-p99 50 --check --seconds 30',
    ],
    exitCodes: {
      0: 'a plan exists and, with --check, the server met the latency target',
      1: 'no plan is possible, or the server did not meet the target',
      4: 'the check is inconclusive, because the client or the machine was saturated',
      130: 'a check was ended by Ctrl-C; 143 by SIGTERM',
    },
    json:
      'one object; rates are per second, memory is in MiB, CPU time in cores: keys, slo_p99_ms, headroom, boxes, keys_per_box, ' +
      'bottleneck, resources, key, box, load, predicted, beyond_measured, check',
  })
    .requiredOption('--keys <n>', 'number of API keys', createIntegerParser(bounds.plannedKeysMax))
    .requiredOption(
      '--slo-p99 <ms>',
      'target for the 99th percentile of the latency, in milliseconds',
      parseMilliseconds,
    )
    .option('--mix <file>', 'traffic mix of the keys (default: same as bench/mixes/default.json)')
    .option('--result <file>', 'benchmark result (default: the result of the latest make bench, or the shipped result)')
    .option(
      '--headroom <percent>',
      'share of every capacity that is kept in reserve',
      parsePercent,
      defaultHeadroomPercent,
    )
    .option('--check', 'start a server, send the planned load, and compare the plan with measurements')
    .option(
      '--seconds <n>',
      'duration of the load, with --check',
      createIntegerParser(bounds.capacityCheckSecondsMax),
      defaultCheckSeconds,
    )
    .option(
      '--sessions <n>',
      'live sessions created before the load, at most as many as planned, with --check',
      createIntegerParser(bounds.capacityCheckSessionsMax),
      defaultCheckSessions,
    )
    .option('--json', 'print one JSON object')
    .action(printCapacityPlan);
}

function parseMilliseconds(text: string): number {
  const value = /^\d{1,8}(\.\d{1,6})?$/.test(text) ? Number(text) : 0;
  if (value > 0 && value <= bounds.plannedSloMsMax) return value;
  throw new InvalidArgumentError(
    `The latency target must be a number of milliseconds, more than 0 and at most ${bounds.plannedSloMsMax}.`,
  );
}

function parsePercent(text: string): number {
  const value = /^\d{1,2}(\.\d{1,6})?$/.test(text) ? Number(text) : Number.NaN;
  if (value >= 0 && value < 100) return value;
  throw new InvalidArgumentError('The value must be a percentage from 0 to less than 100.');
}

/**
 * Script that exists only in a checkout, not in the npm package, and therefore must not be imported
 * (docs/contributing/decisions/packaging.md).
 */
const checkScript = join(fileURLToPath(new URL('../../..', import.meta.url)), 'bench', 'capacity-check', 'main.ts');

/** Starts a server, sends the planned load to the server, and returns the measurements. */
async function runCapacityCheck(request: CapacityCheckRequest): Promise<CapacityCheckMeasurements> {
  if (!existsSync(checkScript)) {
    throw new CommandLineError('--check is available only in a checkout; run make capacity-check KEYS=n SLO=ms there');
  }
  // If this process is killed, the IPC channel of the check script closes, and the script exits.
  const child = spawn(process.execPath, [checkScript, JSON.stringify(request)], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  let output = '';
  child.stdout!.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  return runInterruptible(async (signal) => {
    signal.addEventListener('abort', () => child.kill('SIGTERM'));
    const [code] = (await once(child, 'close')) as [number | null];
    signal.throwIfAborted();
    if (code !== 0) throw new CommandLineError('the check failed; the reason is above');
    return JSON.parse(output) as CapacityCheckMeasurements;
  });
}

interface CapacityOptions {
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
/** Benchmark result of the machine that bench/README.md describes. Used if --result is absent and `latestResultFile` does not exist. */
const referenceResultFile = fileURLToPath(new URL('../../capacity/reference-result.json', import.meta.url));
const otherMachineNotice =
  'This machine was not measured: the figures are those of the server above, and other machines differ widely. Run make bench in a checkout to measure this one.';

async function printCapacityPlan(options: CapacityOptions): Promise<void> {
  const mix = readMix(options.mix);
  const plan = makePlan(options, mix);
  if (options.check === undefined) {
    if (options.json) printJson(capacityPlanToJson(plan, null));
    else printResult(formatPlan(plan));
    return;
  }
  assertRequestCountAllowed(plan, options.seconds);
  if (!options.json) printResult(`${formatPlan(plan)}\n`);
  const measurements = await runCapacityCheck({
    ratesPerSecond: plan.load.ratesPerSecond,
    seconds: options.seconds,
    initialSessions: Math.min(options.sessions, Math.floor(plan.load.liveSessions)),
  });
  const result = compareMeasurementWithPlan(plan, measurements);
  if (options.json) printJson(capacityPlanToJson(plan, result));
  else printResult(formatCapacityCheck(plan, result));
  if (result.verdict === 'missed') process.exitCode = exitCodes.failure;
  if (result.verdict === 'inconclusive') process.exitCode = exitCodes.incomplete;
}

function assertRequestCountAllowed({ load }: CapacityPlan, seconds: number): void {
  const { capacityCheckRequestsMax: max } = bounds;
  if (load.requestsPerSecond * seconds <= max) return;
  const possible = Math.floor(max / load.requestsPerSecond);
  const advice = possible < 1 ? 'this server is too fast for a check' : `use --seconds ${possible} or fewer`;
  throw new CommandLineError(`a check can send at most ${max} requests: ${advice}`, { exitCode: exitCodes.usage });
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

/** Runs a function and adds the file name to the message of a `CapacityPlanError`. */
function withFileName<Value>(file: string | null, run: () => Value): Value {
  try {
    return run();
  } catch (error) {
    if (!(error instanceof CapacityPlanError)) throw error;
    throw new CommandLineError(file === null ? error.message : `${file} ${error.message}`, { cause: error });
  }
}

function readTextFile(file: string, bytesMax: number): string {
  const read = readRegularFile(file, bytesMax);
  if (!read.ok) throw new CommandLineError(`${file} ${read.problem}`);
  return read.bytes.toString();
}
