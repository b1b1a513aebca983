import { Command } from 'commander';
import { bounds } from '../bounds.ts';
import { guided } from './guide.ts';
import type { InspectOptions } from './log-inspect.ts';
import { wholeNumberUpTo } from './whole-number.ts';

export function logInspectCommand(): Command {
  const command = new Command('inspect')
    .summary('show records of a log')
    .description('Shows records of a log, oldest first. A server may be running. The ledger holds no personal data.')
    .argument('[folder]', 'the folder of the log (default: the ledger of the data folder)')
    .option(
      '--from <position>',
      'the first record to show (default: the oldest)',
      wholeNumberUpTo(Number.MAX_SAFE_INTEGER),
    )
    .option('--count <n>', 'how many', wholeNumberUpTo(Number.MAX_SAFE_INTEGER), bounds.recordsInspected)
    .option('--json', 'print one JSON object a line')
    .action(async (folder: string | undefined, options: InspectOptions) => {
      const { inspect } = await import('./log-inspect.ts');
      await inspect(folder, options);
    });
  return guided(command, {
    examples: [
      'marketplace log inspect --from 1000 --count 5',
      'marketplace log inspect --count 1000000 --json | jq -r .kind | sort | uniq -c',
    ],
    exits: { 1: null, 3: 'a record to be shown is damaged; those before it were shown' },
    json: {
      prints: 'an object a line for each record',
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
