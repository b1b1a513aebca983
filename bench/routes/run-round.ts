import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { LoadClient, LoadPlan } from '../load/load-client.ts';
import { type PreparedRequest, writeRequests } from '../load/prepared-request.ts';
import type { Progress } from '../progress.ts';
import type { Measurement, ServerKind } from '../result/measurement.ts';
import type { Scenario, Stage } from '../scenarios/scenario.ts';
import { type Target, usageWhenQuiet } from '../target/target.ts';
import { measure } from './measure.ts';
import { roundOrder } from './round-order.ts';

/** What a load may last when it is to end with its last request. */
const onceSecondsMax = 60;

export interface RoundOptions {
  readonly scenario: Scenario;
  readonly stage: Stage;
  /** The service among them. */
  readonly servers: ReadonlyMap<ServerKind, Target>;
  readonly client: LoadClient;
  readonly connections: number;
  readonly seconds: number;
  /** No two rounds of a stage have the same number. */
  readonly round: number;
  /** What is being done, for whoever watches. */
  readonly doing: string;
  readonly progress: Progress;
  readonly folder: string;
}

export interface RoundFigures {
  readonly requests: readonly PreparedRequest[];
  readonly measured: ReadonlyMap<ServerKind, Measurement>;
}

/** One round: the same requests to every server, one after the other. */
export async function runRound(options: RoundOptions): Promise<RoundFigures> {
  const { scenario, stage, servers, client, connections, seconds, round, doing, progress, folder } = options;
  progress.step(`${doing}: preparing`);
  const requests = await scenario.prepare(stage, round);
  const requestsFile = join(folder, `requests-${round}`);
  await writeRequests(requestsFile, requests);
  // What the preparation left behind is no part of any load.
  await usageWhenQuiet(servers.get('service')!);

  const [expectedStatus, ...alsoExpected] = [...new Set(scenario.kinds.map(({ status }) => status))];
  const measured = new Map<ServerKind, Measurement>();
  for (const [kind, target] of roundOrder([...servers], round)) {
    progress.step(`${doing}: load on ${kind}`);
    // A baseline keeps nothing, so that it may be asked the same again.
    const once = scenario.once && kind === 'service';
    const plan: LoadPlan = {
      port: target.port,
      requestsFile,
      connections,
      seconds: once ? onceSecondsMax : seconds,
      once,
      expectedStatus: expectedStatus!,
      alsoExpected,
    };
    try {
      measured.set(kind, await measure(target, client, plan));
    } catch (error) {
      throw new Error(`load on ${kind}: ${error instanceof Error ? error.message : error}`, { cause: error });
    }
  }
  await rm(requestsFile);
  return { requests, measured };
}
