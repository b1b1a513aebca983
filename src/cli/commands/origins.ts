import { Command } from 'commander';
import { validateWebOrigin } from '../../auth/web-origin.ts';
import type { ChangeOriginsOptions, ListOriginsOptions } from '../actions/origins.ts';
import { withHelp } from '../command-help.ts';
import { parseAccountName } from '../option-parsers.ts';

/**
 * Ends the command with a usage error if an argument is not an origin. The message contains the number of the argument but not its text,
 * which may be a key that was pasted by mistake.
 */
export function assertOrigins(origins: readonly string[], command: Command): void {
  for (const [index, origin] of origins.entries()) {
    const problem = validateWebOrigin(origin);
    if (problem !== null) command.error(`error: origin ${index + 1} of ${origins.length} is invalid. ${problem}`);
  }
}

function originsAllowCommand(): Command {
  const command = new Command('allow')
    .summary('allow web pages to embed the widgets of an account')
    .description(
      'Allows the pages of these origins to embed the widgets of an account. If it fails, it allows none of them. A running server applies the change within two seconds.',
    )
    .requiredOption(
      '--account <name>',
      'account of the widgets; an account is created with its first key',
      parseAccountName,
    )
    .argument('<origin...>', 'scheme, host, and port unless it is the default one, as browsers send it')
    .option('--json', 'print one JSON object')
    .action(async (origins: readonly string[], options: ChangeOriginsOptions, self: Command) => {
      assertOrigins(origins, self);
      const { allowOrigins } = await import('../actions/origins.ts');
      allowOrigins(origins, options);
    });
  return withHelp(command, {
    examples: [
      'marketplace origins allow --account acme https://www.example.com',
      'marketplace origins allow --account acme https://shop.example.com http://localhost:3000',
    ],
    exitCodes: { 0: 'the origins are allowed, now or before', 1: null },
    json: {
      output: 'one object',
      members: {
        account: 'account of the widgets',
        origins: 'array with one object per origin, in the order of the command line',
        'origins[].origin': 'the origin',
        'origins[].outcome': '`allowed` or `already_allowed`',
        count: 'number of origins that the account allows now',
      },
    },
  });
}

function originsListCommand(): Command {
  const command = new Command('list')
    .summary('list the allowed origins')
    .description('Lists the origins that may embed the widgets of each account.')
    .option('--account <name>', 'only this account', parseAccountName)
    .option('--json', 'print an array of JSON objects')
    .action(async (options: ListOriginsOptions) => {
      const { printOrigins } = await import('../actions/origins.ts');
      printOrigins(options);
    });
  return withHelp(command, {
    examples: ['marketplace origins list', "marketplace origins list --account acme --json | jq -r '.[].origin'"],
    exitCodes: { 1: null },
    json: {
      output: 'array with one object per origin, ordered by account',
      members: { account: 'account of the widgets', origin: 'origin that may embed them' },
    },
  });
}

function originsRemoveCommand(): Command {
  const command = new Command('remove')
    .summary('forbid web pages to embed the widgets of an account')
    .description(
      'Removes origins from the list of an account, so that their pages can no longer embed its widgets. A running server applies the change within two seconds.',
    )
    .requiredOption('--account <name>', 'account of the widgets', parseAccountName)
    .argument('<origin...>', 'origin, as in marketplace origins list')
    .option('--json', 'print one JSON object')
    .action(async (origins: readonly string[], options: ChangeOriginsOptions, self: Command) => {
      assertOrigins(origins, self);
      const { removeOrigins } = await import('../actions/origins.ts');
      removeOrigins(origins, options);
    });
  return withHelp(command, {
    examples: [
      'marketplace origins remove --account acme https://shop.example.com',
      'marketplace origins remove --account acme https://shop.example.com --json | jq .count',
    ],
    exitCodes: { 0: 'the origins are not on the list, whether they were before or not', 1: null },
    json: {
      output: 'one object',
      members: {
        account: 'account of the widgets',
        origins: 'array with one object per origin, in the order of the command line',
        'origins[].origin': 'the origin',
        'origins[].outcome': '`removed` or `not_allowed`',
        count: 'number of origins that the account allows now',
      },
    },
  });
}

export function originsCommand(): Command {
  const command = new Command('origins')
    .summary('manage which web pages may embed the widgets of an account')
    .description(
      'Manages, for each account, the list of origins that may embed its widgets, in the key file of the data folder ' +
        '(SVC_DATA_DIR, or ./data). With an empty list, widgets of test keys may be embedded everywhere, and those of live ' +
        'keys nowhere. A server may be running.',
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
