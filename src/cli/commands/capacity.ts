import { Command, InvalidArgumentError } from 'commander';
import { bounds } from '../../bounds.ts';
import type { CapacityOptions } from '../actions/capacity.ts';
import { withHelp } from '../command-help.ts';
import { parseIntegerUpTo } from '../option-parsers.ts';

const defaultHeadroomPercent = 20;
const defaultCheckSeconds = 60;
const defaultCheckSessions = 100_000;

export function capacityCommand(): Command {
  const command = new Command('capacity')
    .summary('plan how many servers a number of API keys needs')
    .description(
      'Computes from a benchmark result (make bench) how many servers like the measured one can serve a number of API keys at their full limits, and which resource is the bottleneck. Without a result of this machine it uses the shipped one, which was measured on another machine, and prints a notice. docs/capacity.md lists the limits of the model.',
    )
    .requiredOption('--keys <n>', 'number of API keys', parseIntegerUpTo(bounds.plannedKeysMax))
    .requiredOption(
      '--slo-p99 <ms>',
      'target for the 99th percentile of the latency, in milliseconds',
      parseMilliseconds,
    )
    .option('--mix <file>', 'traffic mix of the keys (default: that of bench/mixes/default.json)')
    .option('--result <file>', 'benchmark result (default: that of the latest make bench, or the shipped one)')
    .option(
      '--headroom <percent>',
      'share of every capacity that is kept in reserve',
      parsePercent,
      defaultHeadroomPercent,
    )
    .option('--check', 'start a server, send it the planned load of one server, and compare')
    .option(
      '--seconds <n>',
      'duration of the load, with --check',
      parseIntegerUpTo(bounds.capacityCheckSecondsMax),
      defaultCheckSeconds,
    )
    .option(
      '--sessions <n>',
      'live sessions created before the load, at most as many as planned, with --check',
      parseIntegerUpTo(bounds.capacityCheckSessionsMax),
      defaultCheckSessions,
    )
    .option('--json', 'print one JSON object')
    .action(async (options: CapacityOptions) => {
      const { printCapacityPlan } = await import('../actions/capacity.ts');
      await printCapacityPlan(options);
    });
  return withHelp(command, {
    examples: [
      'marketplace capacity --keys 1000 --slo-p99 50',
      'marketplace capacity --keys 1000 --slo-p99 50 --mix bench/mixes/default.json --headroom 30 --json | jq .boxes',
      'marketplace capacity --keys 1000 --slo-p99 50 --check --seconds 30',
    ],
    exitCodes: {
      0: 'a plan exists and, with --check, the server met the latency target',
      1: 'no plan is possible, or the server did not meet the target',
      130: 'a check was ended by Ctrl-C; 143 by SIGTERM',
    },
    json: {
      output: 'one object; rates are per second, memory is in MiB, CPU time in cores',
      members: {
        keys: 'as on the command line',
        slo_p99_ms: 'as on the command line',
        headroom: 'share of every capacity that is kept in reserve',
        boxes: 'number of servers',
        keys_per_box: 'number of keys per server',
        bottleneck: 'name of the resource that limits the number of keys',
        resources:
          'one object per resource: `name`, `unit`, `capacity`, `per_key`, `keys` that it can serve, `used_share` at the load of one server',
        key: 'load of one key at its limits: `bound_by`, `requests_per_second`, `rates_per_second`, `sessions_per_day`, `live_sessions`',
        box: 'the measured server: `cpu`, `cores`, `memory_mib`, `measured_at`, `commit`, `quick`',
        load: 'load of one server: `keys`, `requests_per_second`, `rates_per_second`, `sessions_per_day`, `live_sessions`',
        predicted:
          'predicted figures of one server: `p99_ms`, `socket_thread_cores`, `all_threads_cores`, `memory_mib`, `disk_bytes_per_day`',
        beyond_measured: 'sentences about assumptions that the measurements do not cover',
        check: 'result of the check, or null without --check',
      },
    },
  });
}

function parseMilliseconds(text: string): number {
  const value = /^\d{1,8}(\.\d{1,6})?$/.test(text) ? Number(text) : 0;
  if (value > 0 && value <= bounds.plannedSloMsMax) return value;
  throw new InvalidArgumentError(
    `It must be a number of milliseconds, more than 0 and at most ${bounds.plannedSloMsMax}.`,
  );
}

function parsePercent(text: string): number {
  const value = /^\d{1,2}(\.\d{1,6})?$/.test(text) ? Number(text) : Number.NaN;
  if (value >= 0 && value < 100) return value;
  throw new InvalidArgumentError('It must be a percentage from 0 to less than 100.');
}
