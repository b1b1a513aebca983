import type { LimitResult } from '../result/limit-result.ts';

/** Let through exactly what it lets through, and nothing was answered by anything else. */
export function isLimitExact({ admitted, expected, other }: LimitResult): boolean {
  return admitted === expected && other === 0;
}

/** What is wrong with how a limit was enforced, in a sentence; null where it is exact. */
export function describeLimitFailure(limit: LimitResult): string | null {
  if (isLimitExact(limit)) return null;
  const { name, attempted, admitted, expected, other } = limit;
  return `the limit ${name} is not exact: of ${attempted} requests ${admitted} were admitted where ${expected} had to be, and ${other} were answered otherwise`;
}
