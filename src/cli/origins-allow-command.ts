import { Command } from 'commander';
import { parseAccountName } from './account-name.ts';
import type { ChangeOriginsOptions } from './change-origins.ts';
import { withHelp } from './guide.ts';
import { assertOrigins } from './require-origins.ts';

export function originsAllowCommand(): Command {
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
      const { allowOrigins } = await import('./origins-allow.ts');
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
