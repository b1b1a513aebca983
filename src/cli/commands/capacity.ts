import process from 'node:process';
import { type Command, InvalidArgumentError } from 'commander';
import type { CapacityPlan } from '../../../bench/capacity/plan.ts';
import { checkPlan, createPlan } from '../../../bench/capacity/planner.ts';
import { formatCapacityCheck, formatPlan } from '../../../bench/capacity/report.ts';
import { bounds } from '../../bounds.ts';
import { CommandLineError, createIntegerParser, defineCommand, exitCodes } from '../command.ts';
import { formatTable, printJson, printResult } from '../output.ts';
import { runInterruptible } from '../signals.ts';

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

async function printCapacityPlan({ keys, sloP99, headroom, json, ...options }: CapacityOptions): Promise<void> {
  const planned = createPlan({ keys, slo_p99_ms: sloP99, headroom: headroom / 100 }, options);
  const { plan } = planned;
  if (options.check === undefined) {
    if (json) printJson({ ...plan, check: null });
    else printResult(formatPlan(plan, formatTable));
    return;
  }
  assertRequestCountAllowed(plan, options.seconds);
  if (!json) printResult(`${formatPlan(plan, formatTable)}\n`);
  const check = await runInterruptible((signal) => checkPlan(planned, options, signal));
  if (json) printJson({ ...plan, check });
  else printResult(formatCapacityCheck(plan, check, formatTable));
  if (check.verdict === 'missed') process.exitCode = exitCodes.failure;
  if (check.verdict === 'inconclusive') process.exitCode = exitCodes.incomplete;
}

function assertRequestCountAllowed({ load }: CapacityPlan, seconds: number): void {
  const { capacityCheckRequestsMax: max } = bounds;
  if (load.requests_per_second * seconds <= max) return;
  const possible = Math.floor(max / load.requests_per_second);
  const advice = possible < 1 ? 'this server is too fast for a check' : `use --seconds ${possible} or fewer`;
  throw new CommandLineError(`a check can send at most ${max} requests: ${advice}`, { exitCode: exitCodes.usage });
}
