import { Command } from 'commander';
import { withHelp } from './guide.ts';

export function logVerifyCommand(): Command {
  const command = new Command('verify')
    .summary('read a whole log and say whether it is whole')
    .description(
      'Reads every record of a log, and what ties it to the one before. Changes nothing; a server may be running.',
    )
    .argument('[folder]', 'the folder of the log (default: the ledger of the data folder)')
    .option('--json', 'print one JSON object')
    .action(async (folder: string | undefined, options: { readonly json?: true }) => {
      const { verifyLog } = await import('./log-verify.ts');
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
