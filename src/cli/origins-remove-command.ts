import { Command } from 'commander';
import { parseAccountName } from './account-name.ts';
import type { ChangeOriginsOptions } from './change-origins.ts';
import { withHelp } from './guide.ts';
import { assertOrigins } from './require-origins.ts';

export function originsRemoveCommand(): Command {
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
      const { removeOrigins } = await import('./origins-remove.ts');
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
