import { Command } from 'commander';
import { accountName } from './account-name.ts';
import { printResult, say } from './output.ts';
import { requireOrigins } from './require-origins.ts';
import { withEmbedOrigins } from './with-embed-origins.ts';

export function originsRemoveCommand(): Command {
  return new Command('remove')
    .summary("no longer let the pages of these origins embed an account's widgets")
    .description(
      "No longer lets the pages of these origins embed an account's widgets. A running server knows it within two seconds.",
    )
    .requiredOption('--account <name>', 'whose widgets', accountName)
    .argument('<origin...>', 'as marketplace origins list shows it')
    .addHelpText(
      'after',
      `
Examples:
  $ marketplace origins remove --account acme https://shop.example.com`,
    )
    .action(removeOrigins);
}

function removeOrigins(origins: readonly string[], { account }: { readonly account: string }, command: Command): void {
  requireOrigins(origins, command);
  const { outcomes, left } = withEmbedOrigins((register) => ({
    outcomes: register.remove(account, origins),
    left: register.list(account).length,
  }));
  for (const [at, origin] of origins.entries()) {
    printResult(outcomes[at] === 'removed' ? `removed ${origin}` : `${origin} was not allowed`);
  }
  if (left === 0) {
    say('The list is empty now: widgets of live keys may be embedded nowhere, those of test keys anywhere.');
  }
}
