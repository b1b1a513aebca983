import { limits } from './limits.ts';

/**
 * How long a Retry-After header asks to wait, in milliseconds, or null without one that is understood: our server sends
 * seconds, and another origin's header is readable only where it is exposed.
 */
export function parseRetryAfterMs(header: string | null): number | null {
  if (header === null || !/^\d{1,6}$/.test(header)) return null;
  return Math.min(Number(header) * 1_000, limits.retryAfterMsMax);
}
