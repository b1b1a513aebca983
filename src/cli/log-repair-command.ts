import { Command, InvalidArgumentError } from 'commander';
import type { LogPlace } from '../events/log-walk.ts';
import { guided } from './guide.ts';
import type { RepairOptions } from './log-repair.ts';

export function logRepairCommand(): Command {
  const command = new Command('repair')
    .summary('cut a damaged log where log verify found the damage')
    .description(
      'Cuts a log at its first damage, so that it opens again. What is before it stays; all that is behind it, also what is ' +
        'whole, is moved unchanged into a folder beside the log. The service must be stopped. Without --yes it only says ' +
        'what it would do. Killed at any moment, it can be run again.',
    )
    .argument('[folder]', 'the folder of the log (default: the ledger of the data folder)')
    .requiredOption('--cut <file:offset>', 'the damage, as log verify names it', place)
    .option('--yes', 'do it')
    .option('--json', 'print one JSON object')
    .action(async (folder: string | undefined, options: RepairOptions) => {
      const { repair } = await import('./log-repair.ts');
      await repair(folder, options);
    });
  return guided(command, {
    examples: [
      'marketplace log repair --cut 0000000000000001.log:4096',
      'marketplace log repair --cut 0000000000000001.log:4096 --yes',
    ],
    exits: {
      0: 'done, told, or nothing to do: the log ends there',
      1: 'refused, or it failed; the reason is on standard error',
      130: null,
    },
    json: {
      prints: 'one object',
      members: {
        outcome: '`cut`, `would_cut` without --yes, or `nothing_to_cut`; the rest is there unless it is the last',
        kept_records: 'records that stay',
        kept_to_position: 'of the last of them; 0 for none',
        moved_bytes: 'cut off the last segment that stays',
        moved_segments: 'files moved as wholes',
        moved_records: 'records in what is moved that can be read',
        moved_first_at: 'when the oldest of them happened, ISO 8601, or null',
        moved_last_at: 'when the newest of them happened, or null',
        lost_records: 'records before those that cannot be read',
        removed_folder: 'where it is moved to',
      },
    },
  });
}

function place(text: string): LogPlace {
  const [, file, offset] = /^(.+):(\d{1,15})$/.exec(text) ?? [];
  if (file === undefined) throw new InvalidArgumentError('It must be like 0000000000000001.log:4096.');
  return { file, offset: Number(offset) };
}
