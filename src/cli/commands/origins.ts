import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import { EmbedOriginError, EmbedOriginRegistry } from '../../auth/embed-origin-registry.ts';
import { keyFilePath } from '../../auth/key-file.ts';
import { validateWebOrigin } from '../../auth/web-origin.ts';
import { readDataDir } from '../../config/config.ts';
import { escapeInvisibleCharacters } from '../../domain/text.ts';
import { CommandLineError, createCommandGroup, defineCommand, parseAccountName } from '../command.ts';
import { createCommandRecorder } from '../command-recorder.ts';
import { checkFolderClock } from '../folder-clock.ts';
import { formatTable, printJson, printNotice, printResult } from '../output.ts';

/**
 * Ends the command with a usage error if an argument is not a valid web origin. The error message contains the position of the argument but
 * not its text, because users may paste an API key by mistake.
 */
function assertOrigins(origins: readonly string[], command: Command): void {
  for (const [index, origin] of origins.entries()) {
    const problem = validateWebOrigin(origin);
    if (problem !== null) command.error(`error: origin ${index + 1} of ${origins.length} is invalid. ${problem}`);
  }
}

/** Help texts of the commands `origins allow` and `origins remove`. */
const changeDefinitions = {
  allow: {
    summary: 'allow web pages to embed the widgets of an account',
    description:
      'Allows the pages of these origins to embed the widgets of an account. If one origin is invalid, none is allowed. A running server applies the change within two seconds.',
    account: 'account of the widgets; an account is created with its first key',
    argument: 'scheme, host, and port unless it is the default one, as browsers send it',
    success: 'the origins are allowed, now or before',
    examples: [
      'marketplace origins allow --account acme https://www.example.com',
      'marketplace origins allow --account acme https://shop.example.com http://localhost:3000',
    ],
  },
  remove: {
    summary: 'forbid web pages to embed the widgets of an account',
    description:
      'Removes origins from the list of an account, so that their pages can no longer embed its widgets. A running server applies the change within two seconds.',
    account: 'account of the widgets',
    argument: 'origin, as in marketplace origins list',
    success: 'the origins are not on the list, whether they were before or not',
    examples: [
      'marketplace origins remove --account acme https://shop.example.com',
      'marketplace origins remove --account acme https://shop.example.com --json | jq .count',
    ],
  },
} as const;

function changeOriginsCommand(change: keyof typeof changeDefinitions): Command {
  const { summary, description, account, argument, success, examples } = changeDefinitions[change];
  return defineCommand(change, {
    summary,
    description,
    examples,
    exitCodes: { 0: success },
    json: 'one object: account, origins, count',
  })
    .requiredOption('--account <name>', account, parseAccountName)
    .argument('<origin...>', argument)
    .action((origins: readonly string[], options: ChangeOriginsOptions, command: Command) => {
      assertOrigins(origins, command);
      changeOrigins(change, origins, options);
    });
}

function originsListCommand(): Command {
  return defineCommand('list', {
    summary: 'list the allowed origins',
    description: 'Lists the origins that may embed the widgets of each account.',
    examples: ['marketplace origins list', "marketplace origins list --account acme --json | jq -r '.[].origin'"],
    json: 'array with one object per origin, ordered by account: account, origin',
  })
    .option('--account <name>', 'only this account', parseAccountName)
    .action(printOrigins);
}

export function createCommand(): Command {
  return createCommandGroup(
    'origins',
    'Manages, for each account, the list of origins that may embed its widgets, in the key file of the data folder ' +
      '(SVC_DATA_DIR, or ./data). With an empty list, widgets of test keys may be embedded everywhere, and those of live ' +
      'keys nowhere. A server may be running.',
    [changeOriginsCommand('allow'), changeOriginsCommand('remove'), originsListCommand()],
  );
}

/** Opens the list of allowed origins and runs a function on it. The data folder must contain a key file. */
function withEmbedOrigins<Result>(run: (registry: EmbedOriginRegistry) => Result): Result {
  const registry = new EmbedOriginRegistry(keyFilePath(readDataDir()), { mustExist: true });
  try {
    return run(registry);
  } catch (error) {
    throw error instanceof EmbedOriginError ? new CommandLineError(error.message, { cause: error }) : error;
  } finally {
    registry.close();
  }
}

interface ChangeOriginsOptions {
  readonly account: string;
  readonly json?: true;
}

/** Adds or removes allowed origins of an account, and prints the outcome for each origin as text or JSON. */
function changeOrigins(
  change: keyof typeof changeDefinitions,
  origins: readonly string[],
  { account, json }: ChangeOriginsOptions,
): void {
  const dataDir = readDataDir();
  const record = createCommandRecorder(dataDir, checkFolderClock(dataDir));
  const { outcomes, count } = withEmbedOrigins((registry) => ({
    outcomes:
      change === 'allow'
        ? registry.allowOrigins(account, origins, record)
        : registry.removeOrigins(account, origins, record),
    count: registry.listOrigins(account).length,
  }));
  const results = origins.map((origin, index) => ({ origin, outcome: outcomes[index]! }));
  if (json) {
    printJson({ account, origins: results, count });
    return;
  }
  for (const { origin, outcome } of results) printResult(outcomeTexts[outcome](origin));
  if (change === 'remove' && count === 0) {
    printNotice(
      'The list is empty now: widgets of live keys may not be embedded anywhere, those of test keys may be embedded everywhere.',
    );
  }
}

const outcomeTexts = {
  allowed: (origin: string) => `allowed ${origin}`,
  already_allowed: (origin: string) => `${origin} was allowed before`,
  removed: (origin: string) => `removed ${origin}`,
  not_allowed: (origin: string) => `${origin} was not allowed`,
} as const;

function printOrigins({ account, json }: { readonly account?: string; readonly json?: true }): void {
  const path = keyFilePath(readDataDir());
  const allowed =
    account === undefined && !existsSync(path) ? [] : withEmbedOrigins((registry) => registry.listOrigins(account));
  if (json) {
    printJson(allowed.map(({ accountName, origin }) => ({ account: accountName, origin })));
  } else if (allowed.length === 0) {
    const scope = account === undefined ? '' : ' for this account';
    printNotice(`No origins are allowed${scope}. Allow one with: marketplace origins allow`);
  } else {
    const rows = allowed.map(({ accountName, origin }) => [accountName, origin].map(escapeInvisibleCharacters));
    printResult(formatTable(['ACCOUNT', 'ORIGIN'], rows));
  }
}
