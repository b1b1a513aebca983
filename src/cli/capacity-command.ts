import { Command, InvalidArgumentError } from 'commander';
import { bounds } from '../bounds.ts';
import type { CapacityOptions } from './capacity.ts';
import { wholeNumberUpTo } from './whole-number.ts';

const headroomPercent = 20;
const checkSeconds = 60;
const checkSessions = 100_000;

export function capacityCommand(): Command {
  return new Command('capacity')
    .summary('how many boxes carry so many keys at their full limits')
    .description(
      'Works out from a measured result of the benchmarks (make bench) how many boxes like the measured one carry so many keys at their full limits, and what of a box gives first. docs/capacity.md says what the answer does not know.',
    )
    .requiredOption('--keys <n>', 'API keys in all', wholeNumberUpTo(bounds.plannedKeysMax))
    .requiredOption('--slo-p99 <ms>', 'what 99 of 100 requests must be answered within', milliseconds)
    .option('--mix <file>', 'what the keys ask for (default: as bench/mixes/default.json)')
    .option('--result <file>', 'a result of the benchmarks (default: that of the latest make bench)')
    .option('--headroom <percent>', 'what is held back of every capacity', percent, headroomPercent)
    .option('--check', 'put the planned load of one box on a server started for it, and compare')
    .option('--seconds <n>', 'how long, with --check', wholeNumberUpTo(bounds.capacityCheckSecondsMax), checkSeconds)
    .option(
      '--sessions <n>',
      'live sessions made before, at most as many as planned, with --check',
      wholeNumberUpTo(bounds.capacityCheckSessionsMax),
      checkSessions,
    )
    .option('--json', 'print one JSON object')
    .addHelpText(
      'after',
      `
With --check it ends with 1 when the server did not carry the load within the SLO.

Examples:
  $ marketplace capacity --keys 1000 --slo-p99 50
  $ marketplace capacity --keys 1000 --slo-p99 50 --mix bench/mixes/default.json --headroom 30 --json | jq .boxes
  $ marketplace capacity --keys 1000 --slo-p99 50 --check`,
    )
    .action(async (options: CapacityOptions) => {
      // Loaded here, since no other command should wait for it.
      const { capacity } = await import('./capacity.ts');
      await capacity(options);
    });
}

function milliseconds(text: string): number {
  const value = /^\d{1,8}(\.\d{1,6})?$/.test(text) ? Number(text) : 0;
  if (value > 0 && value <= bounds.plannedSloMsMax) return value;
  throw new InvalidArgumentError(`It must be milliseconds, more than 0 and at most ${bounds.plannedSloMsMax}.`);
}

function percent(text: string): number {
  const value = /^\d{1,2}(\.\d{1,6})?$/.test(text) ? Number(text) : Number.NaN;
  if (value >= 0 && value < 100) return value;
  throw new InvalidArgumentError('It must be percent, from 0 to less than 100.');
}
