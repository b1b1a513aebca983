import { existsSync } from 'node:fs';
import { EmbedOriginError, EmbedOriginRegistry } from '../../auth/embed-origin-registry.ts';
import { keyFilePath } from '../../auth/key-file.ts';
import { readDataDir } from '../../config/config.ts';
import { readEnv } from '../../config/env.ts';
import { escapeInvisible } from '../../domain/text.ts';
import { CommandLineError } from '../command-line-error.ts';
import { formatTable, printJson, printNotice, printResult } from '../output.ts';

/** Runs a command on the allowed origins of the data folder. The data folder must contain a key file. */
function withEmbedOrigins<Result>(run: (registry: EmbedOriginRegistry) => Result): Result {
  const registry = EmbedOriginRegistry.openExisting(keyFilePath(readDataDir(readEnv())));
  try {
    return run(registry);
  } catch (error) {
    throw error instanceof EmbedOriginError ? new CommandLineError(error.message, { cause: error }) : error;
  } finally {
    registry.close();
  }
}

export interface ChangeOriginsOptions {
  readonly account: string;
  readonly json?: true;
}

/** Changes the allowed origins of an account and prints the outcome for each origin, as text or as JSON. */
function changeAndPrintOrigins<Outcome extends string>(
  origins: readonly string[],
  { account, json }: ChangeOriginsOptions,
  change: (registry: EmbedOriginRegistry) => readonly Outcome[],
  formatOutcome: (origin: string, outcome: Outcome) => string,
): { readonly count: number } {
  const { outcomes, count } = withEmbedOrigins((registry) => ({
    outcomes: change(registry),
    count: registry.list(account).length,
  }));
  const results = origins.map((origin, index) => ({ origin, outcome: outcomes[index]! }));
  if (json) printJson({ account, origins: results, count });
  else for (const { origin, outcome } of results) printResult(formatOutcome(origin, outcome));
  return { count };
}

export function allowOrigins(origins: readonly string[], options: ChangeOriginsOptions): void {
  changeAndPrintOrigins(
    origins,
    options,
    (registry) => registry.allow(options.account, origins),
    (origin, outcome) => (outcome === 'allowed' ? `allowed ${origin}` : `${origin} was allowed before`),
  );
}

export interface ListOriginsOptions {
  readonly account?: string;
  readonly json?: true;
}

export function printOrigins({ account, json }: ListOriginsOptions): void {
  const path = keyFilePath(readDataDir(readEnv()));
  const allowed =
    account === undefined && !existsSync(path) ? [] : withEmbedOrigins((registry) => registry.list(account));
  if (json) {
    printJson(allowed.map(({ accountName, origin }) => ({ account: accountName, origin })));
  } else if (allowed.length === 0) {
    const scope = account === undefined ? '' : ' for this account';
    printNotice(`No origins are allowed${scope}. Allow one with: marketplace origins allow`);
  } else {
    const rows = allowed.map(({ accountName, origin }) => [accountName, origin].map(escapeInvisible));
    printResult(formatTable(['ACCOUNT', 'ORIGIN'], rows));
  }
}

export function removeOrigins(origins: readonly string[], options: ChangeOriginsOptions): void {
  const { count } = changeAndPrintOrigins(
    origins,
    options,
    (registry) => registry.remove(options.account, origins),
    (origin, outcome) => (outcome === 'removed' ? `removed ${origin}` : `${origin} was not allowed`),
  );
  if (count === 0 && !options.json) {
    printNotice(
      'The list is empty now: widgets of live keys may not be embedded anywhere, those of test keys may be embedded everywhere.',
    );
  }
}
