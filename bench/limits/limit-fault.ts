import type { LimitResult } from '../result/limit-result.ts';

/** What is wrong with how a limit was enforced, in a sentence; null where it is exact. */
export function limitFault({ name, attempted, admitted, expected, other }: LimitResult): string | null {
  if (admitted === expected && other === 0) return null;
  return `the limit ${name} is not exact: of ${attempted} requests ${admitted} were admitted where ${expected} had to be, and ${other} were answered otherwise`;
}
