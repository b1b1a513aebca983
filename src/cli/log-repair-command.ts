import { Command, InvalidArgumentError, Option } from 'commander';
import type { LogLocation } from '../events/log-walk.ts';
import { withHelp } from './guide.ts';
import type { RepairOptions } from './log-repair.ts';

type RepairCommandOptions = Omit<RepairOptions, 'cut'> &
  Partial<Pick<RepairOptions, 'cut'>> & { readonly acceptMissingJournal?: true };

export function logRepairCommand(): Command {
  const command = new Command('repair')
    .summary('cut a damaged log where log verify found the damage')
    .description(
      'Cuts a log at its first damage, so that it opens again. What is before it stays; all that is behind it, also what is ' +
        'whole, is moved unchanged into a folder beside the log. With --accept-missing-journal it creates an empty journal ' +
        'beside the ledger instead, when that folder is gone. The service must be stopped. Without --yes it only says ' +
        'what it would do. Killed at any moment, it can be run again.',
    )
    .argument('[folder]', 'the folder of the log (default: the ledger of the data folder)')
    .option('--cut <file:offset>', 'the damage, as log verify names it', parseLogPlace)
    .addOption(
      new Option(
        '--accept-missing-journal',
        'go on without the journal: live sessions have to be sent their inputs again',
      ).conflicts('cut'),
    )
    .option('--yes', 'do it')
    .option('--json', 'print one JSON object')
    .action(async (folder: string | undefined, { cut, acceptMissingJournal, ...options }: RepairCommandOptions) => {
      if (acceptMissingJournal) {
        const { acceptMissingJournal: accept } = await import('./accept-missing-journal.ts');
        accept(folder, options);
      } else if (cut === undefined) {
        command.error("error: one of the options '--cut <file:offset>' and '--accept-missing-journal' is required");
      } else {
        const { repairLogAtCut } = await import('./log-repair.ts');
        await repairLogAtCut(folder, { cut, ...options });
      }
    });
  return withHelp(command, {
    examples: [
      'marketplace log repair --cut 0000000000000001.log:4096',
      'marketplace log repair --cut 0000000000000001.log:4096 --yes',
      'marketplace log repair --accept-missing-journal',
    ],
    exitCodes: {
      0: 'done, told, or nothing to do: the log ends there',
      1: 'refused, or it failed; the reason is on standard error',
      130: null,
    },
    json: {
      output: 'one object',
      members: {
        outcome:
          '`cut`, `would_cut` without --yes, or `nothing_to_cut`; with --accept-missing-journal `journal_created`, ' +
          '`would_create_journal` or `journal_not_missing`. The rest is there only with the first two',
        kept_records: 'records that stay',
        kept_to_position: 'of the last of them; 0 for none',
        moved_bytes: 'cut off the last segment that stays',
        moved_segments: 'files moved as wholes',
        moved_records: 'records in what is moved that can be read',
        moved_first_at: 'when the oldest of them happened, ISO 8601, or null',
        moved_last_at: 'when the newest of them happened, or null',
        lost_records: 'records in what is moved that cannot be read',
        removed_folder: 'where it is moved to',
      },
    },
  });
}

function parseLogPlace(text: string): LogLocation {
  const [, file, offset] = /^(.+):(\d{1,15})$/.exec(text) ?? [];
  if (file === undefined) throw new InvalidArgumentError('It must be like 0000000000000001.log:4096.');
  return { file, offset: Number(offset) };
}
