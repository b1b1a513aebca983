import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { HttpCaller } from '../load/http-caller.ts';
import type { BenchContext } from '../part.ts';
import { type ServerKind, serverKinds } from '../result/measurement.ts';
import type { RouteResult } from '../result/route-result.ts';
import type { Scenario, ScenarioStage } from '../scenarios/scenario.ts';
import { startBaselineTarget } from '../target/baseline-target.ts';
import { createOwnedFolder } from '../target/owned-folder.ts';
import { type ServiceTarget, startServiceTarget } from '../target/service-target.ts';
import type { LoadTarget } from '../target/target.ts';
import { type RoundResult, runRound } from './run-round.ts';
import { meanBodyBytes, sampleResponses } from './sample-answers.ts';
import { isClientSaturated } from './saturation.ts';
import { planSeries } from './series.ts';

export type RunScenarioOptions = Pick<BenchContext, 'scale' | 'client' | 'crossCheck' | 'folder' | 'progress' | 'catalog'>;

/** The warm-up round is this part of a measured one. */
const warmUpShare = 0.5;

/**
 * Runs one scenario: the same load on the service and on every baseline, one after the other, round after round. A second
 * client makes a second result, of fewer rounds.
 */
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

      progress.step(`${scenario.name}: looking at the answers, and starting the baselines`);
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
      await runRound({ ...common, stage: shorter, client, seconds: scale.seconds * warmUpShare, round: 0, progressLabel });

      const results: RouteResult[] = [];
      let round = 1;
      for (const series of planSeries(options)) {
        const figures: RoundResult[] = [];
        while (figures.length < series.rounds) {
          const doing = `${scenario.name}: ${series.client.name}, round ${figures.length + 1} of ${series.rounds}`;
          const { client } = series;
          figures.push(await runRound({ ...common, stage, client, seconds: scale.seconds, round: round++, progressLabel: doing }));
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
      throw new Error(`${scenario.name}: ${message}\nThe service said: ${service.logTail()}`, { cause: error });
    }
  } finally {
    for (const close of closers.reverse()) await close();
  }
}

function createStage({ keys }: ServiceTarget, caller: HttpCaller, roundRequests: number): ScenarioStage {
  let taken = 0;
  return { caller, keys, nextKey: () => keys[taken++ % keys.length]!, roundRequests, state: new Map() };
}

async function startScenarioService(scenario: Scenario, options: RunScenarioOptions, folder: string): Promise<ServiceTarget> {
  const base = { folder, keys: options.scale.keys };
  if (scenario.catalogOffers === undefined) return startServiceTarget(base);
  const catalogFile = join(folder, 'catalog.json');
  await writeFile(catalogFile, options.catalog(scenario.catalogOffers));
  return startServiceTarget({ ...base, catalogFile });
}
