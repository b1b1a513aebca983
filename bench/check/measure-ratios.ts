import type { BenchPart, BenchScale } from '../bench-part.ts';
import { chooseLoadClients, type LoadClient } from '../load/load-clients.ts';
import { benchParts } from '../parts.ts';
import { type BenchResult, mergePartResult } from '../result/bench-result.ts';
import { createBenchContext } from '../run-main.ts';
import { computeResultRatios, type ResultRatio } from './ratios.ts';

/**
 * Size of a single run, such as its number of rounds and sessions. A single run takes about a minute. A check measures several runs, each
 * with new servers, because a single run is not reliable.
 */
const checkRunScale: BenchScale = {
  rounds: 1,
  seconds: 0.6,
  connections: 64,
  roundRequests: 8_000,
  keys: 1_000,
  sessionsMax: 1_000,
};

/** Benchmark parts whose speed ratios are compared with the baseline. */
export const benchPartsWithRatios: readonly BenchPart[] = benchParts.filter(
  ({ name, group }) => group === 'routes' || name === 'micro',
);

/** Measures the speed ratios in several benchmark runs. If `only` is given, measures only the benchmark parts with these names. */
export async function measureSpeedRatios(
  repeat: number,
  clientName: LoadClient['name'] | undefined,
  only?: ReadonlySet<string>,
): Promise<ResultRatio[][]> {
  const { client, crossCheck } = await chooseLoadClients(clientName);
  // If wrk is installed, wrk sends the load, because it uses less CPU time than autocannon.
  const context = createBenchContext(checkRunScale, true, crossCheck ?? client);
  const parts = benchPartsWithRatios.filter(({ name }) => only === undefined || only.has(name));
  const runs: ResultRatio[][] = [];
  while (runs.length < repeat) {
    let found: Pick<BenchResult, 'routes' | 'micro'> = { routes: [], micro: [] };
    for (const part of parts) found = mergePartResult(found as BenchResult, await part.measure(context));
    runs.push(computeResultRatios(found));
    context.progress.printLine(`run ${runs.length} of ${repeat}: done`);
  }
  return runs;
}
