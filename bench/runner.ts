import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { HttpCaller } from './load/http-caller.ts';
import type { LoadClient, LoadPlan } from './load/load-client.ts';
import { writeRequests } from './load/prepared-request.ts';
import type { BenchContext } from './part.ts';
import type { Measurement } from './result/measurement.ts';
import type { RouteResult } from './result/route-result.ts';
import { isSaturated } from './saturation.ts';
import type { Scenario, Stage } from './scenarios/scenario.ts';
import { median } from './statistics.ts';
import { startBareTarget } from './target/bare-target.ts';
import { makeOwnedFolder } from './target/owned-folder.ts';
import { type ServiceTarget, startServiceTarget } from './target/service-target.ts';
import { type Target, usageWhenQuiet } from './target/target.ts';

interface Round {
  readonly bare: Measurement;
  readonly service: Measurement;
}

export type RunOptions = Pick<BenchContext, 'scale' | 'client' | 'folder' | 'progress' | 'catalog'>;

/** What a load may last when it is to end with its last request. */
const onceSecondsMax = 60;
/** How many answers are looked at for the size of their bodies. */
const sampledAnswers = 40;
/** The number `prepare` is given for the sample: of no round, so that nothing it makes is met again. */
const samplingRound = 1_000_000;

/** Runs one scenario: the service and the bare server side by side, one load at a time, in turn. */
export async function runScenario(scenario: Scenario, options: RunOptions): Promise<RouteResult> {
  const { progress, scale, client } = options;
  const owned = await makeOwnedFolder(options.folder, 'run-');
  const folder = owned.path;
  const closers: (() => Promise<void> | void)[] = [() => owned.remove()];
  try {
    progress.step(`${scenario.name}: starting the service with ${scale.keys} keys`);
    const service = await startService(scenario, options, folder);
    closers.push(() => service.close());
    const caller = new HttpCaller(service.port, scale.connections);
    closers.push(() => caller.close());
    const { keys } = service;
    let keysTaken = 0;
    const nextKey = () => keys[keysTaken++ % keys.length]!;
    const stage: Stage = { caller, keys, nextKey, roundRequests: scale.roundRequests, kept: new Map() };
    try {
      progress.step(`${scenario.name}: looking at the size of the answers`);
      const bodyBytes = await sampleBodyBytes(scenario, stage);
      const bare = await startBareTarget({ ...scenario.route, status: scenario.expectedStatus, bodyBytes });
      closers.push(() => bare.close());
      const rounds: Round[] = [];
      for (let round = 0; round <= scale.rounds; round++) {
        const measured = await runRound(scenario, options, stage, round, { bare, service, folder });
        if (round > 0) rounds.push(measured);
      }
      const { name, title, targets } = scenario;
      return {
        name,
        title,
        client: client.name,
        bodyBytes,
        targets,
        servers: [
          { kind: 'service', rounds: rounds.map(({ service }) => service) },
          { kind: 'bare', rounds: rounds.map(({ bare }) => bare) },
        ],
        clientSaturated: isSaturated(rounds.map(({ bare }) => bare)),
      };
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      throw new Error(`${scenario.name}: ${message}\nThe service said: ${service.logged()}`, { cause: error });
    }
  } finally {
    for (const close of closers.reverse()) await close();
  }
}

/** The middle size of the service's answers. */
async function sampleBodyBytes(scenario: Scenario, stage: Stage): Promise<number> {
  const small: Stage = { ...stage, roundRequests: sampledAnswers, kept: new Map() };
  const requests = (await scenario.prepare(small, samplingRound)).slice(0, sampledAnswers);
  const answers = await stage.caller.callAll(requests, scenario.expectedStatus);
  return Math.round(median(answers.map(({ body }) => Buffer.byteLength(body))));
}

async function runRound(
  scenario: Scenario,
  { progress, scale, client }: RunOptions,
  stage: Stage,
  round: number,
  { bare, service, folder }: { readonly bare: Target; readonly service: Target; readonly folder: string },
): Promise<Round> {
  const doing = `${scenario.name}: ${round === 0 ? 'warm-up' : `round ${round} of ${scale.rounds}`}`;
  progress.step(`${doing}: preparing`);
  const requestsFile = join(folder, `requests-${round}`);
  await writeRequests(requestsFile, await scenario.prepare(stage, round));
  const { connections, seconds } = scale;
  const plan = { requestsFile, connections, expectedStatus: scenario.expectedStatus };
  const loadBare = () => {
    progress.step(`${doing}: load on the bare server`);
    return measure(bare, client, { ...plan, port: bare.port, seconds, once: false });
  };
  const loadService = () => {
    progress.step(`${doing}: load on the service`);
    const { once } = scenario;
    return measure(service, client, { ...plan, port: service.port, seconds: once ? onceSecondsMax : seconds, once });
  };
  // Whoever comes second may find a warmer or a busier machine, so the order alternates.
  const bareFirst = round % 2 === 0;
  const first = await (bareFirst ? loadBare() : loadService());
  const second = await (bareFirst ? loadService() : loadBare());
  await rm(requestsFile);
  return bareFirst ? { bare: first, service: second } : { bare: second, service: first };
}

async function startService(scenario: Scenario, options: RunOptions, folder: string): Promise<ServiceTarget> {
  const base = { folder, keys: options.scale.keys };
  if (scenario.catalogOffers === undefined) return startServiceTarget(base);
  const catalogFile = join(folder, 'catalog.json');
  await writeFile(catalogFile, options.catalog(scenario.catalogOffers));
  return startServiceTarget({ ...base, catalogFile });
}

/** One load. Throws when any answer was not the expected one: a faster refusal must never pass for a faster server. */
async function measure(target: Target, client: LoadClient, plan: LoadPlan): Promise<Measurement> {
  const before = await usageWhenQuiet(target);
  const result = await client.run(plan);
  const after = await usageWhenQuiet(target);
  if (result.unexpected > 0) {
    throw new Error(`${result.unexpected} of ${result.requests} answers were not ${plan.expectedStatus}`);
  }
  if (result.requests === 0) throw new Error('the load had no answer at all');
  const micros = (seconds: number) => (seconds * 1e6) / result.requests;
  const known = before !== null && after !== null;
  const { unexpected: _, ...told } = result;
  return {
    ...told,
    perSecond: result.requests / result.seconds,
    cpuMicros: known ? micros(after.allThreads - before.allThreads) : null,
    mainThreadCpuMicros: known ? micros(after.mainThread - before.mainThread) : null,
    process: null,
  };
}
