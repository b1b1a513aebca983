import { Command } from 'commander';
import { validateWebOrigin } from '../../auth/web-origin.ts';
import type { ChangeOriginsOptions, ListOriginsOptions } from '../actions/origins.ts';
import { withHelp } from '../command-help.ts';
import { parseAccountName } from '../option-parsers.ts';

/**
 * Ends the command as wrongly used at the first argument that is no origin. It is told by its place and not repeated: what was
 * pasted here by mistake may be a key.
 */
export function assertOrigins(origins: readonly string[], command: Command): void {
  for (const [at, origin] of origins.entries()) {
    const fault = validateWebOrigin(origin);
    if (fault !== null) command.error(`error: origin ${at + 1} of ${origins.length} is none. ${fault}`);
  }
}

function originsAllowCommand(): Command {
  const command = new Command('allow')
    .summary("let the pages of these origins embed an account's widgets")
    .description(
      "Lets the pages of these origins embed an account's widgets: all of them or, after a failure, none. A running server knows it within two seconds.",
    )
    .requiredOption('--account <name>', 'whose widgets; an account is made with its first key', parseAccountName)
    .argument('<origin...>', 'scheme, host, and port unless it is the usual one, as a browser sends it')
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
    exitCodes: { 0: 'they are allowed, now or before', 1: null },
    json: {
      output: 'one object',
      members: {
        account: 'whose widgets',
        origins: 'an array with an object for each origin, in the order given',
        'origins[].origin': 'the origin',
        'origins[].outcome': '`allowed` or `already_allowed`',
        count: 'how many origins the account allows now',
      },
    },
  });
}

function originsListCommand(): Command {
  const command = new Command('list')
    .summary('list where widgets may be embedded')
    .description('Lists the origins that each account allows its widgets to be embedded in.')
    .option('--account <name>', 'of this account only', parseAccountName)
    .option('--json', 'print an array of JSON objects')
    .action(async (options: ListOriginsOptions) => {
      const { printOrigins } = await import('../actions/origins.ts');
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

function originsRemoveCommand(): Command {
  const command = new Command('remove')
    .summary("no longer let the pages of these origins embed an account's widgets")
    .description(
      "No longer lets the pages of these origins embed an account's widgets. A running server knows it within two seconds.",
    )
    .requiredOption('--account <name>', 'whose widgets', parseAccountName)
    .argument('<origin...>', 'as marketplace origins list shows it')
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
    exitCodes: { 0: 'they are off the list, whether they were on it or not', 1: null },
    json: {
      output: 'one object',
      members: {
        account: 'whose widgets',
        origins: 'an array with an object for each origin, in the order given',
        'origins[].origin': 'the origin',
        'origins[].outcome': '`removed` or `not_allowed`',
        count: 'how many origins the account allows now',
      },
    },
  });
}

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
