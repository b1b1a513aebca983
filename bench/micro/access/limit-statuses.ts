import { createKeyPolicies, type LimitStatus, createLimitStatus } from '../../../src/access/limit-status.ts';
import { defaultKeyLimits } from '../../../src/access/key-limits.ts';

/** How a key stands from answer to answer, as its limit of a minute is used up. */
export function randomLimitStatuses(count: number): LimitStatus[] {
  const { requests } = createKeyPolicies(defaultKeyLimits);
  return Array.from({ length: count }, (_, i) =>
    createLimitStatus(requests, requests.limit - (i % requests.limit), 60_000 - i, 1_760_000_000_000 + i),
  );
}
