import type { LimitStatus } from './limit-status.ts';

/**
 * Limit headers of an answer to a known key (docs/contract.md#limit-headers), each after its line break. Two spellings of the
 * same figures: the customary `X-RateLimit-*`, and the fields of the IETF draft "RateLimit header fields for HTTP".
 * `Retry-After` is not among them: it comes with the refusal, as for every other refusal that has one.
 */
export function rateLimitHeaders({ policy, remaining, resetEpochSeconds, resetSeconds }: LimitStatus): string {
  const { headerPrefix, rateLimitHeaderPrefix } = policy;
  return `${headerPrefix}${remaining}\r\nX-RateLimit-Reset: ${resetEpochSeconds}${rateLimitHeaderPrefix}${remaining};t=${resetSeconds}`;
}
