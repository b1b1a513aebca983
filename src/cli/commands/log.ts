import { Command, InvalidArgumentError, Option } from 'commander';
import { bounds } from '../../bounds.ts';
import type { LogLocation } from '../../event-log/log-scanner.ts';
import type { InspectOptions } from '../actions/log.ts';
import type { RepairOptions } from '../actions/log-repair.ts';
import { withHelp } from '../command-help.ts';
import { parseIntegerUpTo } from '../option-parsers.ts';

function logVerifyCommand(): Command {
  const command = new Command('verify')
    .summary('verify a log')
    .description(
      'Reads every record of a log and verifies that each follows the one before it. Changes nothing; a server may be running.',
    )
    .argument('[folder]', 'folder of the log (default: the ledger of the data folder)')
    .option('--json', 'print one JSON object')
    .action(async (folder: string | undefined, options: { readonly json?: true }) => {
      const { verifyLog } = await import('../actions/log.ts');
      await verifyLog(folder, options);
    });
  return withHelp(command, {
    examples: ['marketplace log verify', 'marketplace log verify /backup/data/ledger --json | jq .records'],
    exitCodes: { 0: 'the log is intact', 1: null, 3: 'the log is damaged', 130: null },
    json: {
      output: 'one object; for a damaged log, it describes the part before the damage',
      members: {
        folder: 'path of the log',
        segments: 'number of files',
        bytes: 'size of all files',
        records: 'number of complete records',
        first_position: 'position of the oldest record, or null',
        last_position: 'position of the newest record, or null',
        first_at: 'time of the oldest record, ISO 8601, or null',
        last_at: 'time of the newest record, or null',
        tail_bytes: 'bytes after the last complete record: a write in progress, or a torn tail',
        damage: 'null for an intact log',
        'damage.file': 'damaged file',
        'damage.offset': 'byte offset in the file',
        'damage.what': 'description',
      },
    },
  });
}

function logInspectCommand(): Command {
  const command = new Command('inspect')
    .summary('print records of a log')
    .description(
      'Prints records of a log, oldest first. A server may be running. The ledger contains no personal data.',
    )
    .argument('[folder]', 'folder of the log (default: the ledger of the data folder)')
    .option(
      '--from <position>',
      'position of the first record (default: the oldest)',
      parseIntegerUpTo(Number.MAX_SAFE_INTEGER),
    )
    .option(
      '--count <n>',
      'number of records',
      parseIntegerUpTo(Number.MAX_SAFE_INTEGER),
      bounds.logInspectRecordsDefault,
    )
    .option('--json', 'print one JSON object per line')
    .action(async (folder: string | undefined, options: InspectOptions) => {
      const { inspectLog } = await import('../actions/log.ts');
      await inspectLog(folder, options);
    });
  return withHelp(command, {
    examples: [
      'marketplace log inspect --from 1000 --count 5',
      'marketplace log inspect --count 1000000 --json | jq -r .kind | sort | uniq -c',
    ],
    exitCodes: { 1: null, 3: 'a requested record is damaged; those before it are printed' },
    json: {
      output: 'one object per line and record',
      members: {
        position: 'number of the record in the log, from 1',
        kind: 'kind of the record, such as `session_created`; docs/ledger.md lists all of them',
        at: 'time of the event, ISO 8601',
        sub_id: 'session of the event; further members depend on the kind',
        error: 'only with the position, for a record that cannot be decoded',
      },
    },
  });
}

type RepairCommandOptions = Omit<RepairOptions, 'cut'> &
  Partial<Pick<RepairOptions, 'cut'>> & { readonly acceptMissingJournal?: true };

function logRepairCommand(): Command {
  const command = new Command('repair')
    .summary('cut a damaged log at the damage that log verify found')
    .description(
      'Cuts a log at its first damage, so that the service can open it again. Records before the damage stay; everything after it, ' +
        'including intact records, is moved unchanged to a folder beside the log. With --accept-missing-journal it instead creates ' +
        'an empty journal beside the ledger if that folder is missing. The service must be stopped. Without --yes it only prints ' +
        'what it would do. If the command is killed, run it again.',
    )
    .argument('[folder]', 'folder of the log (default: the ledger of the data folder)')
    .option('--cut <file:offset>', 'position of the damage, as log verify prints it', parseLogLocation)
    .addOption(
      new Option(
        '--accept-missing-journal',
        'continue without the journal: inputs of live sessions must be submitted again',
      ).conflicts('cut'),
    )
    .option('--yes', 'make the changes')
    .option('--json', 'print one JSON object')
    .action(async (folder: string | undefined, { cut, acceptMissingJournal, ...options }: RepairCommandOptions) => {
      if (acceptMissingJournal) {
        const { createMissingJournal } = await import('../actions/log-repair.ts');
        createMissingJournal(folder, options);
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
      0: 'the repair is done or printed, or the log already ends there',
      1: 'refused or failed; the reason is on standard error',
      130: null,
    },
    json: {
      output: 'one object',
      members: {
        outcome:
          '`cut`, `would_cut` without --yes, or `nothing_to_cut`; with --accept-missing-journal `journal_created`, ' +
          '`would_create_journal` or `journal_not_missing`. Only the first two have the other members',
        kept_records: 'number of records that stay',
        kept_to_position: 'position of the last one; 0 if there is none',
        moved_bytes: 'bytes cut off the last segment that stays',
        moved_segments: 'number of files moved as a whole',
        moved_records: 'number of readable records that are moved',
        moved_first_at: 'time of the oldest of them, ISO 8601, or null',
        moved_last_at: 'time of the newest of them, or null',
        lost_records: 'number of unreadable records that are moved',
        removed_folder: 'folder that they are moved to',
      },
    },
  });
}

function parseLogLocation(text: string): LogLocation {
  const [, file, offset] = /^(.+):(\d{1,15})$/.exec(text) ?? [];
  if (file === undefined) throw new InvalidArgumentError('It must be like 0000000000000001.log:4096.');
  return { file, offset: Number(offset) };
}

export function logCommand(): Command {
  const command = new Command('log')
    .summary('verify, inspect and repair a log')
    .description(
      'Verifies, prints and repairs a log: the ledger of the data folder (SVC_DATA_DIR, or ./data), or the log in another folder.',
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
