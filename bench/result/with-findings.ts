import type { BenchResult } from './bench-result.ts';

/** A result with what one more part found. Lists are put behind one another; anything else is taken over. */
export function mergeFindings(result: BenchResult, found: Partial<BenchResult>): BenchResult {
  const whole: Record<string, unknown> = { ...result };
  for (const [name, value] of Object.entries(found)) {
    const before = whole[name];
    whole[name] = Array.isArray(before) && Array.isArray(value) ? [...before, ...value] : value;
  }
  return whole as unknown as BenchResult;
}
