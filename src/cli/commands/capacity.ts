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
    .summary('how many boxes carry so many keys at their full limits')
    .description(
      'Works out from a measured result of the benchmarks (make bench) how many boxes like the measured one carry so many keys at their full limits, and what of a box gives first. Where nothing was measured it takes a result that is shipped, which is of another machine, and says so. docs/capacity.md says what the answer does not know.',
    )
    .requiredOption('--keys <n>', 'API keys in all', parseIntegerUpTo(bounds.plannedKeysMax))
    .requiredOption('--slo-p99 <ms>', 'what 99 of 100 requests must be answered within', parseMilliseconds)
    .option('--mix <file>', 'what the keys ask for (default: as bench/mixes/default.json)')
    .option(
      '--result <file>',
      'a result of the benchmarks (default: that of the latest make bench, or else the one that is shipped)',
    )
    .option('--headroom <percent>', 'what is held back of every capacity', parsePercent, defaultHeadroomPercent)
    .option('--check', 'put the planned load of one box on a server started for it, and compare')
    .option(
      '--seconds <n>',
      'how long, with --check',
      parseIntegerUpTo(bounds.capacityCheckSecondsMax),
      defaultCheckSeconds,
    )
    .option(
      '--sessions <n>',
      'live sessions made before, at most as many as planned, with --check',
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
      0: 'there is an answer and, with --check, the server carried the load within the SLO',
      1: 'there is none, or the server did not',
      130: 'a check was ended by Ctrl-C; 143 by SIGTERM',
    },
    json: {
      output: 'one object; rates are per second, memory is in MiB, CPU time in cores',
      members: {
        keys: 'asked for',
        slo_p99_ms: 'asked for',
        headroom: 'the share held back of every capacity',
        boxes: 'how many it takes',
        keys_per_box: 'how many one carries',
        bottleneck: 'the name of the resource that gives first',
        resources:
          'an object for each: `name`, `unit`, `capacity`, `per_key`, `keys` it is enough for, `used_share` by the load of one box',
        key: 'what one key asks for at its limits: `bound_by`, `requests_per_second`, `rates_per_second`, `sessions_per_day`, `live_sessions`',
        box: 'the one that was measured: `cpu`, `cores`, `memory_mib`, `measured_at`, `commit`, `quick`',
        load: 'what one box would carry: `keys`, `requests_per_second`, `rates_per_second`, `sessions_per_day`, `live_sessions`',
        predicted:
          'how it would do: `p99_ms`, `socket_thread_cores`, `all_threads_cores`, `memory_mib`, `disk_bytes_per_day`',
        beyond_measured: 'sentences about where the answer goes beyond what was measured',
        check: 'null without --check; else what the server made of the load',
      },
    },
  });
}

function parseMilliseconds(text: string): number {
  const value = /^\d{1,8}(\.\d{1,6})?$/.test(text) ? Number(text) : 0;
  if (value > 0 && value <= bounds.plannedSloMsMax) return value;
  throw new InvalidArgumentError(`It must be milliseconds, more than 0 and at most ${bounds.plannedSloMsMax}.`);
}

function parsePercent(text: string): number {
  const value = /^\d{1,2}(\.\d{1,6})?$/.test(text) ? Number(text) : Number.NaN;
  if (value >= 0 && value < 100) return value;
  throw new InvalidArgumentError('It must be percent, from 0 to less than 100.');
}
