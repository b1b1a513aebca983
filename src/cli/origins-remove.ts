import type { ChangeOriginsOptions } from './origins-allow.ts';
import { printJson, printResult, say } from './output.ts';
import { withEmbedOrigins } from './with-embed-origins.ts';

export function removeOrigins(origins: readonly string[], { account, json }: ChangeOriginsOptions): void {
  const { outcomes, count } = withEmbedOrigins((register) => ({
    outcomes: register.remove(account, origins),
    count: register.list(account).length,
  }));
  if (json) {
    printJson({ account, origins: origins.map((origin, at) => ({ origin, outcome: outcomes[at] })), count });
    return;
  }
  for (const [at, origin] of origins.entries()) {
    printResult(outcomes[at] === 'removed' ? `removed ${origin}` : `${origin} was not allowed`);
  }
  if (count === 0) {
    say('The list is empty now: widgets of live keys may be embedded nowhere, those of test keys anywhere.');
  }
}
