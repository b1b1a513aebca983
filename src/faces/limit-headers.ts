import type { LimitStatus } from '../access/limit-status.ts';
import type { HeaderText } from '../http/header-text.ts';

/**
 * The limit headers of an answer to a known key (D13). Two spellings of the same figures: the customary `X-RateLimit-*`,
 * and the fields of the IETF draft "RateLimit header fields for HTTP". `Retry-After` is not among them: it comes with the
 * refusal, as for every other refusal that has one.
 */
export function limitHeaders(status: LimitStatus): HeaderText {
  const { policy, policies, remaining, resetEpochSeconds, resetSeconds } = status;
  return `\r\nX-RateLimit-Limit: ${policy.limitText}\r\nX-RateLimit-Remaining: ${remaining}\r\nX-RateLimit-Reset: ${resetEpochSeconds}\r\nRateLimit-Policy: ${policies}\r\nRateLimit: ${policy.remainingPrefix}${remaining};t=${resetSeconds}`;
}
