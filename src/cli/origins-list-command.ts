import { existsSync } from 'node:fs';
import { Command } from 'commander';
import { keyFilePath } from '../access/key-file.ts';
import { dataDirOf } from '../config/config.ts';
import { readEnv } from '../config/env.ts';
import { visibleText } from '../domain/plain-text.ts';
import { accountName } from './account-name.ts';
import { printResult, say, table } from './output.ts';
import { withEmbedOrigins } from './with-embed-origins.ts';

interface Options {
  readonly account?: string;
  readonly json?: true;
}

export function originsListCommand(): Command {
  return new Command('list')
    .summary('list where widgets may be embedded')
    .description('Lists the origins that each account allows its widgets to be embedded in.')
    .option('--account <name>', 'of this account only', accountName)
    .option('--json', 'print an array of JSON objects')
    .addHelpText(
      'after',
      `
Examples:
  $ marketplace origins list
  $ marketplace origins list --account acme --json | jq -r '.[].origin'`,
    )
    .action(listOrigins);
}

function listOrigins({ account, json }: Options): void {
  const path = keyFilePath(dataDirOf(readEnv()));
  const allowed =
    account === undefined && !existsSync(path) ? [] : withEmbedOrigins((register) => register.list(account));
  if (json) {
    printResult(
      JSON.stringify(
        allowed.map(({ accountName, origin }) => ({ account: accountName, origin })),
        null,
        2,
      ),
    );
  } else if (allowed.length === 0) {
    say(
      `No origins are allowed${account === undefined ? '' : ' for this account'}. Allow one with: marketplace origins allow`,
    );
  } else {
    printResult(
      table(
        ['ACCOUNT', 'ORIGIN'],
        allowed.map(({ accountName, origin }) => [accountName, origin].map(visibleText)),
      ),
    );
  }
}
