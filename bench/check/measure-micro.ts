import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { BenchResult } from '../result/bench-result.ts';
import { runChildProcess } from '../target/owned-resources.ts';
import type { CostPair } from './comparison.ts';
import { type Checkouts, orderOfRound } from './measure-routes.ts';

/** Name of the benchmark part that measures single functions. */
export const microPartName = 'micro';

const timeoutMs = 300_000;

/**
 * Measures one run of the single functions: runs the micro benchmarks of one checkout, twice those of the other and again those of the
 * first, each time in a new process. Micro benchmarks call internal functions, so each checkout runs its own. Micro benchmarks are compared
 * by name; those that only one checkout has are ignored.
 */
export async function measureMicroPair(checkouts: Checkouts, run: number): Promise<CostPair[]> {
  const times = { base: new Map<string, number>(), current: new Map<string, number>() };
  for (const side of orderOfRound(run)) {
    for (const { name, medianNs } of await runMicroBenchmarks(checkouts[side])) {
      times[side].set(name, (times[side].get(name) ?? 0) + medianNs / 2);
    }
  }
  return [...times.current].flatMap(([name, current]): CostPair[] => {
    const base = times.base.get(name);
    if (base === undefined) return [];
    return [{ name: `${name}, ns`, part: microPartName, base, current, ratio: current / base }];
  });
}

/** Runs the micro benchmarks of a checkout with its command line, which is the same in all versions. */
async function runMicroBenchmarks(checkout: string): Promise<BenchResult['micro']> {
  const main = join(checkout, 'bench/main.ts');
  const output = await runChildProcess(process.execPath, [main, '--quick', '--only', microPartName], { timeoutMs });
  const file = /^All rounds: (.+)$/m.exec(output)?.[1];
  if (file === undefined) throw new Error(`the output of ${main} names no result file`);
  const { micro } = JSON.parse(readFileSync(file, 'utf8')) as BenchResult;
  rmSync(file);
  return micro;
}
