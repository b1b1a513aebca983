import { printJson, printResult } from './output.ts';
import { withEmbedOrigins } from './with-embed-origins.ts';

export interface ChangeOriginsOptions {
  readonly account: string;
  readonly json?: true;
}

export function allowOrigins(origins: readonly string[], { account, json }: ChangeOriginsOptions): void {
  const { outcomes, count } = withEmbedOrigins((register) => ({
    outcomes: register.allow(account, origins),
    count: register.list(account).length,
  }));
  if (json) {
    printJson({ account, origins: origins.map((origin, at) => ({ origin, outcome: outcomes[at] })), count });
    return;
  }
  for (const [at, origin] of origins.entries()) {
    printResult(outcomes[at] === 'allowed' ? `allowed ${origin}` : `${origin} was allowed before`);
  }
}
