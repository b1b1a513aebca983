import { Command, InvalidArgumentError } from 'commander';
import type { ConfirmOptions } from '../actions/confirm.ts';
import { withHelp } from '../command-help.ts';

export function confirmCommand(): Command {
  const command = new Command('confirm')
    .summary('tell a running server what lenders confirmed')
    .description(
      'Sends a file of lender confirmations to the operations listener of a running server, row by row in batches. Good rows ' +
        'are booked though others are rejected; sending a file again changes nothing. docs/confirmations.md has the columns.',
    )
    .argument(
      '<file>',
      'rows as .csv, with the names of the columns in the first line, or as .ndjson',
      parseConfirmationPath,
    )
    .option(
      '--url <url>',
      'address of the operations listener (default: from SVC_OPS_HOST and SVC_OPS_PORT)',
      parseBaseUrl,
    )
    .option('--token-file <file>', 'file with the operator token (default: the one in the data folder)')
    .option('--rejected <file>', 'where rejected rows go, with their reasons (default: beside the file)')
    .option('--json', 'print one JSON object')
    .action(async (file: string, options: ConfirmOptions) => {
      const { confirmRevenueFromFile } = await import('../actions/confirm.ts');
      await confirmRevenueFromFile(file, options);
    });
  return withHelp(command, {
    examples: [
      'marketplace confirm payouts.csv',
      'marketplace confirm payouts.ndjson --url http://10.0.0.5:9090 --token-file operator-token --rejected mend.ndjson',
    ],
    exitCodes: {
      0: 'every row is booked, now or before',
      1: 'it failed, and may have booked some rows; the reason is on standard error',
      4: 'done, but some rows were rejected',
      130: null,
    },
    json: {
      output: 'one object',
      members: {
        rows: 'in the file',
        accepted: 'booked now',
        repeated: 'booked before',
        rejected: 'the rest',
        reasons: 'an object: how many were rejected by each reason; docs/confirmations.md has them',
        rejected_file: 'where the rejected rows are, or null without any',
      },
    },
  });
}

function parseConfirmationPath(path: string): string {
  // The endings that `createConfirmationParser` knows: its parsers are not loaded for help.
  if (/\.(csv|ndjson|jsonl)$/i.test(path)) return path;
  throw new InvalidArgumentError('Its name must end with .csv, .ndjson or .jsonl.');
}

function parseBaseUrl(text: string): string {
  const url = URL.parse(text);
  if (url !== null && /^https?:$/.test(url.protocol) && url.search === '' && url.hash === '' && url.username === '') {
    return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
  }
  throw new InvalidArgumentError('It must be an http or https URL like http://127.0.0.1:9090.');
}
