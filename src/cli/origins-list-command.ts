import { Command } from 'commander';
import { parseAccountName } from './account-name.ts';
import { withHelp } from './guide.ts';
import type { ListOriginsOptions } from './origins-list.ts';

export function originsListCommand(): Command {
  const command = new Command('list')
    .summary('list where widgets may be embedded')
    .description('Lists the origins that each account allows its widgets to be embedded in.')
    .option('--account <name>', 'of this account only', parseAccountName)
    .option('--json', 'print an array of JSON objects')
    .action(async (options: ListOriginsOptions) => {
      const { printOrigins } = await import('./origins-list.ts');
      printOrigins(options);
    });
  return withHelp(command, {
    examples: ['marketplace origins list', "marketplace origins list --account acme --json | jq -r '.[].origin'"],
    exitCodes: { 1: null },
    json: {
      output: 'an array with an object for each origin, by account',
      members: { account: 'whose widgets', origin: 'where they may be embedded' },
    },
  });
}
