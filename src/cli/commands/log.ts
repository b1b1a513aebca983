import { Command, InvalidArgumentError, Option } from 'commander';
import { bounds } from '../../bounds.ts';
import type { LogLocation } from '../../event-log/log-scanner.ts';
import type { InspectOptions } from '../actions/log.ts';
import type { RepairOptions } from '../actions/log-repair.ts';
import { withHelp } from '../command-help.ts';
import { parseIntegerUpTo } from '../option-parsers.ts';

function logVerifyCommand(): Command {
  const command = new Command('verify')
    .summary('read a whole log and say whether it is whole')
    .description(
      'Reads every record of a log, and what ties it to the one before. Changes nothing; a server may be running.',
    )
    .argument('[folder]', 'the folder of the log (default: the ledger of the data folder)')
    .option('--json', 'print one JSON object')
    .action(async (folder: string | undefined, options: { readonly json?: true }) => {
      const { verifyLog } = await import('../actions/log.ts');
      await verifyLog(folder, options);
    });
  return withHelp(command, {
    examples: ['marketplace log verify', 'marketplace log verify /backup/data/ledger --json | jq .records'],
    exitCodes: { 0: 'it is whole', 1: null, 3: 'it is damaged', 130: null },
    json: {
      output: 'one object, also for a damaged log, of which it tells what is before the damage',
      members: {
        folder: 'of the log',
        segments: 'files of it',
        bytes: 'in all of them',
        records: 'that are whole',
        first_position: 'of the oldest of them, or null',
        last_position: 'of the newest, or null',
        first_at: 'when the oldest happened, ISO 8601, or null',
        last_at: 'when the newest happened, or null',
        tail_bytes: 'behind them that are no whole record: a write under way, or a torn tail',
        damage: 'null for a whole log',
        'damage.file': 'the file that is damaged',
        'damage.offset': 'the byte in it',
        'damage.what': 'what is wrong there, in words',
      },
    },
  });
}

function logInspectCommand(): Command {
  const command = new Command('inspect')
    .summary('show records of a log')
    .description('Shows records of a log, oldest first. A server may be running. The ledger holds no personal data.')
    .argument('[folder]', 'the folder of the log (default: the ledger of the data folder)')
    .option(
      '--from <position>',
      'the first record to show (default: the oldest)',
      parseIntegerUpTo(Number.MAX_SAFE_INTEGER),
    )
    .option('--count <n>', 'how many', parseIntegerUpTo(Number.MAX_SAFE_INTEGER), bounds.logInspectRecordsDefault)
    .option('--json', 'print one JSON object a line')
    .action(async (folder: string | undefined, options: InspectOptions) => {
      const { inspectLog } = await import('../actions/log.ts');
      await inspectLog(folder, options);
    });
  return withHelp(command, {
    examples: [
      'marketplace log inspect --from 1000 --count 5',
      'marketplace log inspect --count 1000000 --json | jq -r .kind | sort | uniq -c',
    ],
    exitCodes: { 1: null, 3: 'a record to be shown is damaged; those before it were shown' },
    json: {
      output: 'an object a line for each record',
      members: {
        position: 'its number in the log, from 1',
        kind: 'such as `session_created`; docs/ledger.md has all of them',
        at: 'when it happened, ISO 8601',
        sub_id: 'the session it tells of; what else a record has depends on its kind',
        error: 'alone with the position, where a record cannot be decoded',
      },
    },
  });
}

type RepairCommandOptions = Omit<RepairOptions, 'cut'> &
  Partial<Pick<RepairOptions, 'cut'>> & { readonly acceptMissingJournal?: true };

function logRepairCommand(): Command {
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
        const { acceptMissingJournal: accept } = await import('../actions/log-repair.ts');
        accept(folder, options);
      } else if (cut === undefined) {
        command.error("error: one of the options '--cut <file:offset>' and '--accept-missing-journal' is required");
      } else {
        const { repairLogAtCut } = await import('../actions/log-repair.ts');
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

export function logCommand(): Command {
  const command = new Command('log')
    .summary('verify, inspect and repair the ledger')
    .description(
      'Verifies, shows and repairs a log: the ledger of the data folder (SVC_DATA_DIR, or ./data), or that of any folder.',
    )
    .addCommand(logVerifyCommand())
    .addCommand(logInspectCommand())
    .addCommand(logRepairCommand());
  return withHelp(command, {
    examples: [
      'marketplace log verify',
      'marketplace log inspect --from 1000 --count 5',
      'marketplace log repair --cut 0000000000000001.log:4096',
    ],
    exitCodes: { 1: null, 3: null, 130: null },
  });
}
