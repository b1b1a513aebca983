import type { EmbedOriginRegistry } from '../access/embed-origin-register.ts';
import { printJson, printResult } from './output.ts';
import { withEmbedOrigins } from './with-embed-origins.ts';

export interface ChangeOriginsOptions {
  readonly account: string;
  readonly json?: true;
}

/** Changes the list of an account, and prints what became of each origin, in the words of `told` or as JSON. */
export function changeAndPrintOrigins<Change extends string>(
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
