import type { LimitStatus } from './limit-status.ts';

/**
 * The limit headers of an answer to a known key, flat: name, value, name, value (D13). Two spellings of the same figures:
 * the customary `X-RateLimit-*`, and the fields of the IETF draft "RateLimit header fields for HTTP". `Retry-After`
 * is not among them: it comes with the refusal, as for every other refusal that has one.
 */
export function limitHeaders({ policy, policies, remaining, resetEpochSeconds, resetSeconds }: LimitStatus): string[] {
  const remainingText = `${remaining}`;
  return [
    'X-RateLimit-Limit',
    policy.limitText,
    'X-RateLimit-Remaining',
    remainingText,
    'X-RateLimit-Reset',
    `${resetEpochSeconds}`,
    'RateLimit-Policy',
    policies,
    'RateLimit',
    `${policy.remainingPrefix}${remainingText};t=${resetSeconds}`,
  ];
}
