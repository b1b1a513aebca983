import { type ChangeOriginsOptions, changeAndPrintOrigins } from './change-origins.ts';

export function allowOrigins(origins: readonly string[], options: ChangeOriginsOptions): void {
  changeAndPrintOrigins(
    origins,
    options,
    (register) => register.allow(options.account, origins),
    (origin, outcome) => (outcome === 'allowed' ? `allowed ${origin}` : `${origin} was allowed before`),
  );
}
