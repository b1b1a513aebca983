import type { BenchContext, BenchScale } from '../bench-part.ts';
import { lifecycleScenario } from '../scenarios/lifecycle-scenario.ts';
import { singleRouteScenarios } from '../scenarios/route-scenarios.ts';
import { verticalScenarios } from '../scenarios/vertical-scenarios.ts';
import { type CostComparison, type CostPair, compareCosts, isLoss } from './comparison.ts';
import { measureMicroPair, microPartName } from './measure-micro.ts';
import { type Checkouts, measureRoutePair } from './measure-routes.ts';

/** Size of one load. There is a key for each request, because several scenarios prepare one request per key. */
export const checkScale: BenchScale = {
  rounds: 6,
  seconds: 1,
  connections: 64,
  roundRequests: 4_000,
  keys: 4_000,
  sessionsMax: 1_000,
};

const scenarios = [...singleRouteScenarios, lifecycleScenario, ...verticalScenarios];

/**
 * Names of the benchmark parts that are compared by default. The other verticals share most code with personal loans, and their rankings are
 * among the single functions.
 */
export const defaultParts: readonly string[] = [
  ...[...singleRouteScenarios, lifecycleScenario].map(({ name }) => name),
  microPartName,
];

/** Names of all benchmark parts that can be compared. */
export const checkedParts: readonly string[] = [...defaultParts, ...verticalScenarios.map(({ name }) => name)];

/** Measures one run of a benchmark part, with new processes of both checkouts. */
export function measurePair(
  part: string,
  run: number,
  checkouts: Checkouts,
  context: Pick<BenchContext, 'scale' | 'client' | 'folder'>,
): Promise<CostPair[]> {
  const scenario = scenarios.find(({ name }) => name === part);
  return scenario === undefined ? measureMicroPair(checkouts, run) : measureRoutePair(scenario, checkouts, context);
}

/**
 * Compares the costs of a benchmark part over several runs. If there is a possible loss, all costs are measured again, and the second
 * measurement is returned. A cost that is higher only in the second measurement is not a loss either.
 */
export async function comparePart(
  repeat: number,
  measure: (run: number) => Promise<CostPair[]>,
): Promise<CostComparison[]> {
  const compareRuns = async () => {
    const pairs: CostPair[] = [];
    for (let run = 0; run < repeat; run++) pairs.push(...(await measure(run)));
    return compareCosts(pairs);
  };
  const first = await compareRuns();
  const suspects = new Set(first.filter(isLoss).map(({ name }) => name));
  if (suspects.size === 0) return first;
  const second = await compareRuns();
  return second.map((cost) => (isLoss(cost) && !suspects.has(cost.name) ? { ...cost, verdict: 'same' } : cost));
}
