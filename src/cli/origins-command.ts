import { Command } from 'commander';
import { withHelp } from './guide.ts';
import { originsAllowCommand } from './origins-allow-command.ts';
import { originsListCommand } from './origins-list-command.ts';
import { originsRemoveCommand } from './origins-remove-command.ts';

export function originsCommand(): Command {
  const command = new Command('origins')
    .summary('say which web pages may show the widgets of an account')
    .description(
      'Keeps, for each account, the list of origins that its widgets may be embedded in, in the key file of the data folder ' +
        '(SVC_DATA_DIR, or ./data). With an empty list, widgets of test keys may be embedded anywhere and those of live keys ' +
        'nowhere. A server may be running.',
    )
    .addCommand(originsAllowCommand())
    .addCommand(originsRemoveCommand())
    .addCommand(originsListCommand());
  return withHelp(command, {
    examples: [
      'marketplace origins allow --account acme https://www.example.com https://shop.example.com',
      'marketplace origins list',
      'marketplace origins remove --account acme https://shop.example.com',
    ],
    exitCodes: { 1: null },
  });
}
