import { keyPolicies, type LimitStatus, limitStatus } from '../../../src/access/limit-status.ts';
import { bounds } from '../../../src/bounds.ts';

/** How a key stands from answer to answer, as its limit of a minute is used up. */
export function drawLimitStatuses(count: number): LimitStatus[] {
  const { requests } = keyPolicies(bounds);
  return Array.from({ length: count }, (_, i) =>
    limitStatus(requests, requests.limit - (i % requests.limit), 60_000 - i, 1_760_000_000_000 + i),
  );
}
