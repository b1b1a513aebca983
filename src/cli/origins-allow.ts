import { type ChangeOriginsOptions, changeOrigins } from './change-origins.ts';

export function allowOrigins(origins: readonly string[], options: ChangeOriginsOptions): void {
  changeOrigins(
    origins,
    options,
    (register) => register.allow(options.account, origins),
    (origin, outcome) => (outcome === 'allowed' ? `allowed ${origin}` : `${origin} was allowed before`),
  );
}
