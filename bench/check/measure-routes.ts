import { join } from 'node:path';
import type { BenchContext } from '../bench-part.ts';
import { HttpCaller } from '../load/http-caller.ts';
import { writeRequestFile } from '../load/prepared-request.ts';
import type { ServerMeasurement } from '../result/bench-result.ts';
import { createLoadPlan, createScenarioContext, measureLoad } from '../routes/run-scenario.ts';
import type { Scenario } from '../scenarios/scenario.ts';
import { readProcessUsageWhenIdle } from '../target/load-target.ts';
import { createTemporaryFolder } from '../target/owned-resources.ts';
import { type ServiceTarget, withServiceTarget } from '../target/service-target.ts';
import { type CostPair, medianPair } from './comparison.ts';

/** Folders of the two compared checkouts. */
export interface Checkouts {
  readonly base: string;
  readonly current: string;
}

type Side = keyof Checkouts;

/** Number of loads that warm up each server, before it is measured. They are enough for the compiler to optimize the hot functions. */
const warmUpLoads = 4;

/** Costs that are compared. Each function returns a cost per request in microseconds, or null if the cost is unknown. */
const costs: Readonly<Record<string, (measurement: ServerMeasurement) => number | null>> = {
  'CPU time of all threads': ({ cpuMicros }) => cpuMicros,
  'CPU time of the main thread': ({ mainThreadCpuMicros }) => mainThreadCpuMicros,
  'duration at full load': ({ perSecond }) => 1e6 / perSecond,
};

/** Returns the order of the four loads of a round. The sums of both servers are affected equally by gradual changes of the machine. */
export function orderOfRound(round: number): readonly Side[] {
  return round % 2 === 0 ? ['base', 'current', 'current', 'base'] : ['current', 'base', 'base', 'current'];
}

/**
 * Measures one run of a scenario: starts new servers of both checkouts, warms both up, and measures rounds of short loads. Each round
 * sends the same load to one server, twice to the other and again to the first. The result is the median of the rounds.
 */
export async function measureRoutePair(
  scenario: Scenario,
  checkouts: Checkouts,
  options: Pick<BenchContext, 'scale' | 'client' | 'folder'>,
): Promise<CostPair[]> {
  const { name, catalogOffers, vertical } = scenario;
  const folder = await createTemporaryFolder(options.folder, 'run-');
  const withSide = <Result>(side: Side, use: (load: () => Promise<ServerMeasurement>) => Promise<Result>) => {
    const target = {
      folder: folder.path,
      keys: options.scale.keys,
      catalogOffers,
      vertical,
      checkout: checkouts[side],
    };
    return withServiceTarget(target, (service) => withScenarioLoad(scenario, service, folder.path, options, use));
  };
  try {
    return await withSide('base', (loadBase) =>
      withSide('current', (loadCurrent) =>
        measureRounds(name, options.scale.rounds, { base: loadBase, current: loadCurrent }),
      ),
    );
  } catch (error) {
    throw new Error(`${name}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  } finally {
    await folder.remove();
  }
}

async function measureRounds(
  part: string,
  rounds: number,
  loads: Readonly<Record<Side, () => Promise<ServerMeasurement>>>,
): Promise<CostPair[]> {
  for (let warmUp = 0; warmUp < warmUpLoads; warmUp++) {
    await loads.base();
    await loads.current();
  }
  const pairs: CostPair[] = [];
  for (let round = 0; round < rounds; round++) {
    const measured = { base: [] as ServerMeasurement[], current: [] as ServerMeasurement[] };
    for (const side of orderOfRound(round)) measured[side].push(await loads[side]());
    for (const [what, costOf] of Object.entries(costs)) {
      const [base, current] = [measured.base, measured.current].map((both) => meanCost(both.map(costOf)));
      if (base && current)
        pairs.push({ name: `${part}: ${what}, us per request`, part, base, current, ratio: current / base });
    }
  }
  return [...Map.groupBy(pairs, ({ name }) => name).values()].map(medianPair);
}

/** Calls `use` with a function that prepares a load of the scenario and sends it to the service. */
async function withScenarioLoad<Result>(
  scenario: Scenario,
  service: ServiceTarget,
  folder: string,
  { scale, client }: Pick<BenchContext, 'scale' | 'client'>,
  use: (load: () => Promise<ServerMeasurement>) => Promise<Result>,
): Promise<Result> {
  const caller = new HttpCaller(service.port, scale.connections);
  const context = createScenarioContext(caller, service.keys, scale.roundRequests);
  const requestsFile = join(folder, `requests-${service.port}`);
  let loads = 0;
  // A load sends each request once, so both versions get the same number of requests.
  const load = async () => {
    await writeRequestFile(requestsFile, await scenario.prepareRequests(context, loads++));
    // Background work of the preparation must not affect the measured load.
    await readProcessUsageWhenIdle(service);
    return await measureLoad(
      service,
      client,
      createLoadPlan(scenario, scale, { port: service.port, requestsFile }, true),
    );
  };
  try {
    return await use(load);
  } finally {
    caller.close();
  }
}

/** Returns the mean of the costs; null if one is unknown. */
function meanCost(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length < values.length ? null : known.reduce((sum, value) => sum + value, 0) / known.length;
}
