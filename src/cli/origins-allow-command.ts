import { Command } from 'commander';
import { accountName } from './account-name.ts';
import { printResult } from './output.ts';
import { requireOrigins } from './require-origins.ts';
import { withEmbedOrigins } from './with-embed-origins.ts';

export function originsAllowCommand(): Command {
  return new Command('allow')
    .summary("let the pages of these origins embed an account's widgets")
    .description(
      "Lets the pages of these origins embed an account's widgets. A running server knows it within two seconds.",
    )
    .requiredOption('--account <name>', 'whose widgets; an account is made with its first key', accountName)
    .argument('<origin...>', 'scheme, host, and port unless it is the usual one, as a browser sends it')
    .addHelpText(
      'after',
      `
Examples:
  $ marketplace origins allow --account acme https://www.example.com
  $ marketplace origins allow --account acme https://shop.example.com http://localhost:3000`,
    )
    .action(allowOrigins);
}

function allowOrigins(origins: readonly string[], { account }: { readonly account: string }, command: Command): void {
  requireOrigins(origins, command);
  const outcomes = withEmbedOrigins((register) => register.allow(account, origins));
  for (const [at, origin] of origins.entries()) {
    printResult(outcomes[at] === 'allowed' ? `allowed ${origin}` : `${origin} was allowed before`);
  }
}
