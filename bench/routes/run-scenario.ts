import { join } from 'node:path';
import type { BenchContext, BenchPart } from '../bench-part.ts';
import { isClientSaturated } from '../load/client-saturation.ts';
import { HttpCaller } from '../load/http-caller.ts';
import type { LoadClient, LoadPlan } from '../load/load-clients.ts';
import { writeRequestFile } from '../load/prepared-request.ts';
import {
  type BenchServerKind,
  benchServerKinds,
  type RouteResult,
  type ServerMeasurement,
} from '../result/bench-result.ts';
import type { Scenario, ScenarioContext } from '../scenarios/scenario.ts';
import { startBaselineServer } from '../target/baseline-target.ts';
import {
  computeCpuMicrosPerRequest,
  type LoadTarget,
  measureServerUsage,
  readProcessUsageWhenIdle,
} from '../target/load-target.ts';
import { createTemporaryFolder } from '../target/owned-resources.ts';
import { type ServiceTarget, withServiceTarget } from '../target/service-target.ts';
import { fetchSampleResponses, meanBodyBytes } from './sample-responses.ts';

/**
 * Returns the order in which a round measures the servers. The order changes from round to round, so that a gradual change of the machine,
 * such as its temperature, affects all servers equally. Each round has a different first server than the previous round, and every second
 * round reverses the order of the remaining servers.
 */
export function rotateServerOrder<Server>(servers: readonly Server[], round: number): Server[] {
  const first = round % servers.length;
  const others = [...servers.slice(first + 1), ...servers.slice(0, first)];
  return [servers[first]!, ...(round % 2 === 0 ? others : others.reverse())];
}

/** Sends a load to one server and returns the measurement. Throws for an unexpected reply. */
export async function measureLoad(target: LoadTarget, client: LoadClient, plan: LoadPlan): Promise<ServerMeasurement> {
  const { result: loaded, usage, process } = await measureServerUsage(target, () => client.run(plan));
  const { unexpected, ...result } = loaded;
  if (unexpected > 0) {
    const expected = [plan.expectedStatus, ...(plan.alsoExpected ?? [])].join(' or ');
    throw new Error(`${unexpected} of ${result.requests} replies did not have status ${expected}`);
  }
  if (result.requests === 0) throw new Error('the load got no replies');
  return {
    ...result,
    perSecond: result.requests / result.seconds,
    ...computeCpuMicrosPerRequest(usage, result.requests),
    process,
  };
}

/** Maximum duration of a load that sends each request only once. */
const singleUseSecondsMax = 60;

/** Returns the plan of a scenario's load. */
export function createLoadPlan(
  scenario: Scenario,
  { seconds, connections }: Pick<BenchContext['scale'], 'seconds' | 'connections'>,
  target: Pick<LoadPlan, 'port' | 'requestsFile'>,
  singleUse = scenario.singleUse,
): LoadPlan {
  const [expectedStatus, ...alsoExpected] = [...new Set(scenario.kinds.map(({ status }) => status))];
  const limit = singleUse ? singleUseSecondsMax : seconds;
  return { ...target, connections, seconds: limit, singleUse, expectedStatus: expectedStatus!, alsoExpected };
}

/** Maximum number of measured rounds with the second load client (`crossCheck`). */
const crossCheckRounds = 3;

/** Duration of the warm-up round, as a share of the duration of a measured round. */
const warmUpShare = 0.5;

export type RunScenarioOptions = Pick<BenchContext, 'scale' | 'client' | 'crossCheck' | 'folder' | 'progress'>;

/**
 * Measures one scenario on the service and on every baseline server, in alternating rounds. Returns one result for each load client: for
 * `client` and, if present, for `crossCheck`.
 */
export async function runScenario(scenario: Scenario, options: RunScenarioOptions): Promise<RouteResult[]> {
  const { progress, scale } = options;
  const { name, catalogOffers, vertical } = scenario;
  const folder = await createTemporaryFolder(options.folder, 'run-');
  try {
    progress.printProgress(`${name}: starting the service with ${scale.keys} keys`);
    const target = { folder: folder.path, keys: scale.keys, catalogOffers, vertical };
    return await withServiceTarget(target, (service) => runOnService(scenario, options, service, folder.path));
  } catch (error) {
    throw new Error(`${name}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  } finally {
    await folder.remove();
  }
}

async function runOnService(
  scenario: Scenario,
  { progress, scale, client, crossCheck }: RunScenarioOptions,
  service: ServiceTarget,
  folder: string,
): Promise<RouteResult[]> {
  const { name, title, targets } = scenario;
  const caller = new HttpCaller(service.port, scale.connections);
  const servers = new Map<BenchServerKind, LoadTarget>();
  try {
    const context = createScenarioContext(caller, service.keys, scale.roundRequests);
    progress.printProgress(`${name}: sampling replies and starting the baselines`);
    const answers = await fetchSampleResponses(scenario, context);
    for (const kind of benchServerKinds.filter((each) => each !== 'synced' || scenario.durable === true)) {
      servers.set(kind, kind === 'service' ? service : await startBaselineServer(kind, answers, folder));
    }

    const requestsFile = join(folder, 'requests');
    let bodyBytes = 0;
    let round = 0;
    /** Sends the same requests to the servers, one server after the other. */
    const runRound = async (roundClient: LoadClient, label: string, share = 1) => {
      progress.printProgress(`${name}: ${label}: preparing`);
      const roundRequests = Math.ceil(scale.roundRequests * share);
      const requests = await scenario.prepareRequests({ ...context, roundRequests }, round);
      await writeRequestFile(requestsFile, requests);
      bodyBytes = meanBodyBytes(requests, answers);
      // Waits until the service is idle, so that background work of the preparation does not affect the measured load.
      await readProcessUsageWhenIdle(service);
      const measured = new Map<BenchServerKind, ServerMeasurement>();
      for (const [kind, target] of rotateServerOrder([...servers], round++)) {
        progress.printProgress(`${name}: ${label}: load on ${kind}`);
        // The baseline servers have no state, so the same requests can be sent to them repeatedly.
        const singleUse = scenario.singleUse && kind === 'service';
        const size = { ...scale, seconds: scale.seconds * share };
        const plan = createLoadPlan(scenario, size, { port: target.port, requestsFile }, singleUse);
        try {
          measured.set(kind, await measureLoad(target, roundClient, plan));
        } catch (error) {
          throw new Error(`load on ${kind}: ${error instanceof Error ? error.message : error}`, { cause: error });
        }
      }
      return measured;
    };

    await runRound(client, 'warm-up', warmUpShare);
    const series = [{ client, rounds: scale.rounds }];
    if (crossCheck !== undefined) series.push({ client: crossCheck, rounds: Math.min(scale.rounds, crossCheckRounds) });
    const results: RouteResult[] = [];
    for (const { client, rounds } of series) {
      const measured: ReadonlyMap<BenchServerKind, ServerMeasurement>[] = [];
      while (measured.length < rounds) {
        measured.push(await runRound(client, `${client.name}, round ${measured.length + 1} of ${rounds}`));
      }
      const byServer = [...servers.keys()].map((kind) => ({ kind, rounds: measured.map((each) => each.get(kind)!) }));
      const clientSaturated = isClientSaturated(byServer);
      results.push({ name, title, client: client.name, bodyBytes, targets, servers: byServer, clientSaturated });
    }
    return results;
  } finally {
    for (const target of servers.values()) if (target !== service) await target.close();
    caller.close();
  }
}

/** Creates the context in which a scenario prepares its requests. The requests use the API keys in turn. */
export function createScenarioContext(
  caller: HttpCaller,
  keys: readonly string[],
  roundRequests: number,
): ScenarioContext {
  let taken = 0;
  return { caller, keys, nextApiKey: () => keys[taken++ % keys.length]!, roundRequests, state: new Map() };
}

/** Benchmark part that measures a scenario with the same load on the service and on every baseline server. */
export function createRouteBenchPart(scenario: Scenario): BenchPart {
  return {
    name: scenario.name,
    group: 'routes',
    description: scenario.title,
    measure: async (context) => ({ routes: await runScenario(scenario, context) }),
  };
}
