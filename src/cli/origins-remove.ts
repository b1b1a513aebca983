import { type ChangeOriginsOptions, changeAndPrintOrigins } from './change-origins.ts';
import { printNotice } from './output.ts';

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
