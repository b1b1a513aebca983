import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { LoadClient, LoadPlan } from '../load/load-client.ts';
import { type PreparedRequest, writeRequests } from '../load/prepared-request.ts';
import type { Progress } from '../progress.ts';
import type { Measurement, ServerKind } from '../result/measurement.ts';
import type { Scenario, ScenarioStage } from '../scenarios/scenario.ts';
import { type LoadTarget, readUsageWhenIdle } from '../target/target.ts';
import { measureLoad } from './measure.ts';
import { serverOrder } from './round-order.ts';

/** What a load may last when it is to end with its last request. */
const singleUseSecondsMax = 60;

export interface RoundOptions {
  readonly scenario: Scenario;
  readonly stage: ScenarioStage;
  /** The service among them. */
  readonly servers: ReadonlyMap<ServerKind, LoadTarget>;
  readonly client: LoadClient;
  readonly connections: number;
  readonly seconds: number;
  /** No two rounds of a stage have the same number. */
  readonly round: number;
  /** What is being done, for whoever watches. */
  readonly progressLabel: string;
  readonly progress: Progress;
  readonly folder: string;
}

export interface RoundResult {
  readonly requests: readonly PreparedRequest[];
  readonly measured: ReadonlyMap<ServerKind, Measurement>;
}

/** One round: the same requests to every server, one after the other. */
export async function runRound(options: RoundOptions): Promise<RoundResult> {
  const { scenario, stage, servers, client, connections, seconds, round, progressLabel, progress, folder } = options;
  progress.step(`${progressLabel}: preparing`);
  const requests = await scenario.prepare(stage, round);
  const requestsFile = join(folder, `requests-${round}`);
  await writeRequests(requestsFile, requests);
  // What the preparation left behind is no part of any load.
  await readUsageWhenIdle(servers.get('service')!);

  const [expectedStatus, ...alsoExpected] = [...new Set(scenario.kinds.map(({ status }) => status))];
  const measured = new Map<ServerKind, Measurement>();
  for (const [kind, target] of serverOrder([...servers], round)) {
    progress.step(`${progressLabel}: load on ${kind}`);
    // A baseline keeps nothing, so that it may be asked the same again.
    const once = scenario.singleUse && kind === 'service';
    const plan: LoadPlan = {
      port: target.port,
      requestsFile,
      connections,
      seconds: once ? singleUseSecondsMax : seconds,
      once,
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
