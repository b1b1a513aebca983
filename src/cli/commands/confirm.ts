import { Command, InvalidArgumentError } from 'commander';
import type { ConfirmationFile, ConfirmOptions } from '../actions/confirm.ts';
import { withHelp } from '../command-help.ts';

export function confirmCommand(): Command {
  const command = new Command('confirm')
    .summary('send confirmations of lenders to a running server')
    .description(
      'Sends a file of lender confirmations in batches to the operations listener of a running server. Valid rows are booked even if other ' +
        'rows are rejected; sending a file again changes nothing. docs/confirmations.md lists the columns.',
    )
    .argument('<file>', '.csv with column names in the first line, or .ndjson', parseConfirmationFile)
    .option(
      '--url <url>',
      'address of the operations listener (default: from SVC_OPS_HOST and SVC_OPS_PORT)',
      parseBaseUrl,
    )
    .option('--token-file <file>', 'file with the operator token (default: the one in the data folder)')
    .option('--rejected <file>', 'file for rejected rows and their reasons (default: beside the file)')
    .option('--json', 'print one JSON object')
    .action(async (file: ConfirmationFile, options: ConfirmOptions) => {
      const { confirmRevenueFromFile } = await import('../actions/confirm.ts');
      await confirmRevenueFromFile(file, options);
    });
  return withHelp(command, {
    examples: [
      'marketplace confirm payouts.csv',
      'marketplace confirm payouts.ndjson --url http://10.0.0.5:9090 --token-file operator-token --rejected rejected.ndjson',
    ],
    exitCodes: {
      0: 'every row is booked, by this run or before',
      1: 'failure, perhaps after some rows were booked; the reason is on standard error',
      4: null,
      130: null,
    },
    json: {
      output: 'one object',
      members: {
        rows: 'rows in the file',
        accepted: 'rows booked by this run',
        repeated: 'rows booked before',
        rejected: 'all other rows',
        reasons: 'object with the number of rejected rows by reason; docs/confirmations.md lists the reasons',
        rejected_file: 'file of rejected rows, or null if there are none',
      },
    },
  });
}

function parseConfirmationFile(path: string): ConfirmationFile {
  if (/\.csv$/i.test(path)) return { path, format: 'csv' };
  if (/\.(ndjson|jsonl)$/i.test(path)) return { path, format: 'ndjson' };
  throw new InvalidArgumentError('Its name must end with .csv, .ndjson or .jsonl.');
}

function parseBaseUrl(text: string): string {
  const url = URL.parse(text);
  if (url !== null && /^https?:$/.test(url.protocol) && url.search === '' && url.hash === '' && url.username === '') {
    return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
  }
  throw new InvalidArgumentError('It must be an http or https URL like http://127.0.0.1:9090.');
}
