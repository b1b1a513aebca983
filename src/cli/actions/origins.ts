import { existsSync } from 'node:fs';
import { EmbedOriginError, EmbedOriginRegistry } from '../../auth/embed-origin-registry.ts';
import { keyFilePath } from '../../auth/key-file.ts';
import { readDataDir } from '../../config/config.ts';
import { readEnv } from '../../config/env.ts';
import { escapeInvisible } from '../../domain/text.ts';
import { CommandLineError } from '../command-line-error.ts';
import { formatTable, printJson, printNotice, printResult } from '../output.ts';
import { openKeyFile } from './key-file.ts';

/** Runs a command on the lists of origins in the data folder, which must have a key file, and closes it whatever happens. */
function withEmbedOrigins<Result>(run: (register: EmbedOriginRegistry) => Result): Result {
  const path = keyFilePath(readDataDir(readEnv()));
  const register = openKeyFile(() => EmbedOriginRegistry.openExisting(path));
  try {
    return run(register);
  } catch (error) {
    throw error instanceof EmbedOriginError ? new CommandLineError(error.message, { cause: error }) : error;
  } finally {
    register.close();
  }
}

export interface ChangeOriginsOptions {
  readonly account: string;
  readonly json?: true;
}

/** Changes the list of an account, and prints what became of each origin, in the words of `told` or as JSON. */
function changeAndPrintOrigins<Change extends string>(
  origins: readonly string[],
  { account, json }: ChangeOriginsOptions,
  change: (register: EmbedOriginRegistry) => readonly Change[],
  told: (origin: string, outcome: Change) => string,
): { readonly count: number } {
  const { outcomes, count } = withEmbedOrigins((register) => ({
    outcomes: change(register),
    count: register.list(account).length,
  }));
  if (json) printJson({ account, origins: origins.map((origin, at) => ({ origin, outcome: outcomes[at] })), count });
  else for (const [at, origin] of origins.entries()) printResult(told(origin, outcomes[at]!));
  return { count };
}

export function allowOrigins(origins: readonly string[], options: ChangeOriginsOptions): void {
  changeAndPrintOrigins(
    origins,
    options,
    (register) => register.allow(options.account, origins),
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
    account === undefined && !existsSync(path) ? [] : withEmbedOrigins((register) => register.list(account));
  if (json) {
    printJson(allowed.map(({ accountName, origin }) => ({ account: accountName, origin })));
  } else if (allowed.length === 0) {
    const whose = account === undefined ? '' : ' for this account';
    printNotice(`No origins are allowed${whose}. Allow one with: marketplace origins allow`);
  } else {
    const rows = allowed.map(({ accountName, origin }) => [accountName, origin].map(escapeInvisible));
    printResult(formatTable(['ACCOUNT', 'ORIGIN'], rows));
  }
}

export function removeOrigins(origins: readonly string[], options: ChangeOriginsOptions): void {
  const { count } = changeAndPrintOrigins(
    origins,
    options,
    (register) => register.remove(options.account, origins),
    (origin, outcome) => (outcome === 'removed' ? `removed ${origin}` : `${origin} was not allowed`),
  );
  if (count === 0 && !options.json) {
    printNotice('The list is empty now: widgets of live keys may be embedded nowhere, those of test keys anywhere.');
  }
}
