import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { BenchContext, BenchPart, Progress } from '../bench-part.ts';
import { isClientSaturated } from '../load/client-saturation.ts';
import { HttpCaller } from '../load/http-caller.ts';
import type { LoadClient, LoadPlan } from '../load/load-client.ts';
import { type PreparedRequest, writeRequests } from '../load/prepared-request.ts';
import { type Measurement, type RouteResult, type ServerKind, serverKinds } from '../result/bench-result.ts';
import type { Scenario, ScenarioStage } from '../scenarios/scenario.ts';
import { startBaselineTarget } from '../target/baseline-target.ts';
import { cpuPerRequest, type LoadTarget, readProcessUsage, readUsageWhenIdle } from '../target/load-target.ts';
import { createOwnedFolder } from '../target/owned-resources.ts';
import { type ServiceTarget, startServiceTarget } from '../target/service-target.ts';
import { meanBodyBytes, sampleResponses } from './sample-responses.ts';

/**
 * Returns the order of the servers in a round. The first server rotates and every second round is reversed, because the machine may
 * be warmer or busier for later servers.
 */
export function serverOrder<Server>(servers: readonly Server[], round: number): Server[] {
  const first = round % servers.length;
  const [one, ...others] = [...servers.slice(first), ...servers.slice(0, first)];
  if (one === undefined) return [];
  return [one, ...(round % 2 === 0 ? others : others.reverse())];
}

/** Runs a load on an idle server and waits until the server is idle again. Throws for an unexpected reply. */
async function measureLoad(target: LoadTarget, client: LoadClient, plan: LoadPlan): Promise<Measurement> {
  const before = readProcessUsage(target.pid);
  await target.probe.start();
  const { unexpected, ...result } = await client.run(plan);
  const process = await target.probe.stop();
  const after = await readUsageWhenIdle(target);
  if (unexpected > 0) {
    const expected = [plan.expectedStatus, ...(plan.alsoExpected ?? [])].join(' or ');
    throw new Error(`${unexpected} of ${result.requests} replies did not have status ${expected}`);
  }
  if (result.requests === 0) throw new Error('the load got no replies');
  return {
    ...result,
    perSecond: result.requests / result.seconds,
    ...cpuPerRequest(before, after, result.requests),
    process,
  };
}

/** Maximum duration of a load that ends with its last request. */
const singleUseSecondsMax = 60;

interface RoundOptions {
  readonly scenario: Scenario;
  readonly stage: ScenarioStage;
  /** Measured servers: the service and the baselines. */
  readonly servers: ReadonlyMap<ServerKind, LoadTarget>;
  readonly client: LoadClient;
  readonly connections: number;
  readonly seconds: number;
  /** Round number, unique within `stage`. */
  readonly round: number;
  /** Text of the progress line. */
  readonly progressLabel: string;
  readonly progress: Progress;
  readonly folder: string;
}

interface RoundResult {
  readonly requests: readonly PreparedRequest[];
  readonly measured: ReadonlyMap<ServerKind, Measurement>;
}

/** Sends the same requests to every server in turn. */
async function runRound(options: RoundOptions): Promise<RoundResult> {
  const { scenario, stage, servers, client, connections, seconds, round, progressLabel, progress, folder } = options;
  progress.step(`${progressLabel}: preparing`);
  const requests = await scenario.prepare(stage, round);
  const requestsFile = join(folder, `requests-${round}`);
  await writeRequests(requestsFile, requests);
  // The load must not include work that the preparation caused.
  await readUsageWhenIdle(servers.get('service')!);

  const [expectedStatus, ...alsoExpected] = [...new Set(scenario.kinds.map(({ status }) => status))];
  const measured = new Map<ServerKind, Measurement>();
  for (const [kind, target] of serverOrder([...servers], round)) {
    progress.step(`${progressLabel}: load on ${kind}`);
    // Baselines have no state, so requests can be repeated.
    const once = scenario.singleUse && kind === 'service';
    const plan: LoadPlan = {
      port: target.port,
      requestsFile,
      connections,
      seconds: once ? singleUseSecondsMax : seconds,
      singleUse: once,
      expectedStatus: expectedStatus!,
      alsoExpected,
    };
    try {
      measured.set(kind, await measureLoad(target, client, plan));
    } catch (error) {
      throw new Error(`load on ${kind}: ${error instanceof Error ? error.message : error}`, { cause: error });
    }
  }
  await rm(requestsFile);
  return { requests, measured };
}

/** Maximum number of rounds with the second client. */
const crossCheckRounds = 3;

/** Client and its number of rounds. */
interface ClientSeries {
  readonly client: LoadClient;
  readonly rounds: number;
}

/** Returns all rounds with the first client, and a few rounds with the second client. */
export function planSeries({
  scale,
  client,
  crossCheck,
}: Pick<BenchContext, 'scale' | 'client' | 'crossCheck'>): ClientSeries[] {
  const main = { client, rounds: scale.rounds };
  return crossCheck === undefined
    ? [main]
    : [main, { client: crossCheck, rounds: Math.min(scale.rounds, crossCheckRounds) }];
}

export type RunScenarioOptions = Pick<
  BenchContext,
  'scale' | 'client' | 'crossCheck' | 'folder' | 'progress' | 'generateCatalogText'
>;

/** Duration of the warm-up round, as a share of a measured round. */
const warmUpShare = 0.5;

/** Runs one scenario on the service and every baseline in alternating rounds. A second client adds a second result with fewer rounds. */
export async function runScenario(scenario: Scenario, options: RunScenarioOptions): Promise<RouteResult[]> {
  const { progress, scale, client } = options;
  const owned = await createOwnedFolder(options.folder, 'run-');
  const folder = owned.path;
  const closers: (() => Promise<void> | void)[] = [() => owned.remove()];
  try {
    progress.step(`${scenario.name}: starting the service with ${scale.keys} keys`);
    const service = await startScenarioService(scenario, options, folder);
    closers.push(() => service.close());
    try {
      const caller = new HttpCaller(service.port, scale.connections);
      closers.push(() => caller.close());
      const stage = createStage(service, caller, scale.roundRequests);

      progress.step(`${scenario.name}: sampling replies and starting the baselines`);
      const answers = await sampleResponses(scenario, stage);
      const start = async (kind: ServerKind): Promise<[ServerKind, LoadTarget]> => {
        if (kind === 'service') return [kind, service];
        const target = await startBaselineTarget(kind, answers, folder);
        closers.push(() => target.close());
        return [kind, target];
      };
      const kinds = serverKinds.filter((kind) => kind !== 'synced' || scenario.durable === true);
      const servers = new Map(await Promise.all(kinds.map(start)));

      const common = { scenario, servers, connections: scale.connections, progress, folder };
      const shorter = { ...stage, roundRequests: Math.ceil(scale.roundRequests * warmUpShare) };
      const progressLabel = `${scenario.name}: warm-up`;
      await runRound({
        ...common,
        stage: shorter,
        client,
        seconds: scale.seconds * warmUpShare,
        round: 0,
        progressLabel,
      });

      const results: RouteResult[] = [];
      let round = 1;
      for (const series of planSeries(options)) {
        const figures: RoundResult[] = [];
        while (figures.length < series.rounds) {
          const doing = `${scenario.name}: ${series.client.name}, round ${figures.length + 1} of ${series.rounds}`;
          const { client } = series;
          figures.push(
            await runRound({ ...common, stage, client, seconds: scale.seconds, round: round++, progressLabel: doing }),
          );
        }
        const inTurn = kinds.map((kind) => ({ kind, rounds: figures.map(({ measured }) => measured.get(kind)!) }));
        results.push({
          name: scenario.name,
          title: scenario.title,
          client: series.client.name,
          bodyBytes: meanBodyBytes(figures[0]!.requests, answers),
          targets: scenario.targets,
          servers: inTurn,
          clientSaturated: isClientSaturated(inTurn),
        });
      }
      return results;
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      throw new Error(`${scenario.name}: ${message}\nLog of the service: ${service.logTail()}`, { cause: error });
    }
  } finally {
    for (const close of closers.reverse()) await close();
  }
}

function createStage({ keys }: ServiceTarget, caller: HttpCaller, roundRequests: number): ScenarioStage {
  let taken = 0;
  return { caller, keys, nextKey: () => keys[taken++ % keys.length]!, roundRequests, state: new Map() };
}

async function startScenarioService(
  scenario: Scenario,
  options: RunScenarioOptions,
  folder: string,
): Promise<ServiceTarget> {
  const base = { folder, keys: options.scale.keys };
  if (scenario.catalogOffers === undefined) return startServiceTarget(base);
  const catalogFile = join(folder, 'catalog.json');
  await writeFile(catalogFile, options.generateCatalogText(scenario.catalogOffers));
  return startServiceTarget({ ...base, catalogFile });
}

/** Part that measures routes under the same load on the service and on every baseline. */
export function routePart(scenario: Scenario): BenchPart {
  return {
    name: scenario.name,
    group: 'routes',
    description: scenario.title,
    measure: async (context) => ({ routes: await runScenario(scenario, context) }),
  };
}
