import { limits } from './limits.ts';

/** Parses a Retry-After header in seconds. Returns milliseconds, or null if it is absent or not a number. */
export function parseRetryAfterMs(header: string | null): number | null {
  if (header === null || !/^\d{1,6}$/.test(header)) return null;
  return Math.min(Number(header) * 1_000, limits.retryAfterMsMax);
}
