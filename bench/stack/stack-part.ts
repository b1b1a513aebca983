import { join } from 'node:path';
import type { BenchContext, BenchPart } from '../bench-part.ts';
import { HttpCaller } from '../load/http-caller.ts';
import { writeRequestFile } from '../load/prepared-request.ts';
import type { ServerMeasurement, StackComparison } from '../result/bench-result.ts';
import { createLoadPlan, createScenarioContext, measureLoad, rotateServerOrder } from '../routes/run-scenario.ts';
import { basePath, createSessions, marketplaceRequest } from '../scenarios/requests.ts';
import {
  cachedRankingScenario,
  clickScenario,
  inputsSubmissionScenario,
  sessionCreationScenario,
} from '../scenarios/route-scenarios.ts';
import type { Scenario, ScenarioContext } from '../scenarios/scenario.ts';
import { type LoadTarget, readProcessUsageWhenIdle } from '../target/load-target.ts';
import { createTemporaryFolder } from '../target/owned-resources.ts';
import { withServiceTarget } from '../target/service-target.ts';
import { findStackProblem, type StackServerSettings, startStack } from './start-stack.ts';

/** Measured scenarios, with the target: answers per CPU second of the service, divided by those of the comparison server. */
const comparisons: readonly (readonly [scenario: Scenario, target: number])[] = [
  [sessionCreationScenario, 7],
  [inputsSubmissionScenario, 6],
  [cachedRankingScenario, 2.4],
  [clickScenario, 6],
];

/** Seed of the session whose offers the comparison server answers. */
const offersSeed = 19;
/** Number of sessions from which the one with the most offers is chosen. */
const sampleSessions = 50;
/** Round that warms up both servers; measured rounds have higher numbers. */
const warmUpRound = 0;

/** Headers that the HTTP library or the comparison server writes, and headers that differ from response to response. */
const otherHeaders =
  /^(date|content-length|content-type|connection|keep-alive|transfer-encoding|ratelimit.*|x-ratelimit.*)$/i;

interface Offer {
  readonly svc_offer_id: string;
  readonly click_url: string;
}

/** Returns the settings of a comparison server that answers with offers, members and headers of a response of the service. */
async function sampleSettings(
  context: ScenarioContext,
): Promise<Pick<StackServerSettings, 'offers' | 'envelope' | 'headers'>> {
  const sessions = await createSessions(context, sampleSessions, offersSeed);
  const answers = await context.caller.sendRequests(
    sessions.map((session) => marketplaceRequest(session, 20)),
    200,
  );
  const largest = answers.toSorted((one, other) => other.body.length - one.body.length)[0]!;
  const { offers, sub_id: _, ...envelope } = JSON.parse(largest.body) as { offers: Offer[]; sub_id?: string };
  const placeholder = '{click_url}';
  return {
    offers: offers.map((offer) => {
      const [head, tail] = JSON.stringify({ ...offer, click_url: placeholder }).split(placeholder, 2) as [
        string,
        string,
      ];
      return { id: offer.svc_offer_id, head, tail, lenderUrl: 'https://lender.example/apply' };
    }),
    envelope: JSON.stringify(envelope).slice(1, -1),
    headers: Object.fromEntries(largest.headerPairs.filter(([name]) => !otherHeaders.test(name))),
  };
}

interface ComparedServer {
  readonly kind: 'service' | 'stack';
  readonly target: LoadTarget;
  readonly context: ScenarioContext;
}

/** Measures one scenario on both servers, in alternating rounds. Both servers keep state, so each gets its own requests. */
async function compareScenario(
  scenario: Scenario,
  servers: readonly ComparedServer[],
  { scale, client, crossCheck, progress }: BenchContext,
  folder: string,
): Promise<Omit<StackComparison, 'target'>> {
  const { name, title } = scenario;
  // wrk uses less CPU time than autocannon.
  const usedClient = crossCheck ?? client;
  const measured: Record<ComparedServer['kind'], ServerMeasurement[]> = { service: [], stack: [] };
  for (let round = warmUpRound; round <= scale.rounds; round++) {
    for (const { kind, target, context } of rotateServerOrder(servers, round)) {
      progress.printProgress(`stack: ${name}: round ${round} of ${scale.rounds}: ${kind}`);
      const requestsFile = join(folder, 'requests');
      await writeRequestFile(requestsFile, await scenario.prepareRequests(context, round));
      await readProcessUsageWhenIdle(target);
      const plan = createLoadPlan(scenario, scale, { port: target.port, requestsFile });
      const measurement = await measureLoad(target, usedClient, plan);
      if (round > warmUpRound) measured[kind].push(measurement);
    }
  }
  return { name, title, client: usedClient.name, ...measured };
}

/** Compares the service with a server of Fastify, Redis and PostgreSQL that keeps the same promises. */
export const stackBenchPart: BenchPart = {
  name: 'stack',
  description: 'CPU time beside a server of Fastify, Redis and PostgreSQL that keeps the same promises',
  async measure(context) {
    const problem = findStackProblem();
    if (problem !== null) {
      context.progress.printLine(`stack: not measured; ${problem}`);
      return { stack: [] };
    }
    const { scale } = context;
    const folder = await createTemporaryFolder(context.folder, 'run-');
    try {
      const stack: StackComparison[] = [];
      await withServiceTarget({ folder: folder.path, keys: scale.keys }, async (service) => {
        const createContext = (port: number) =>
          createScenarioContext(new HttpCaller(port, scale.connections), service.keys, scale.roundRequests);
        const sampling = createContext(service.port);
        const settings = await sampleSettings(sampling);
        sampling.caller.close();
        const target = await startStack(context.folder, { ...settings, keys: service.keys, basePath });
        try {
          for (const [scenario, minimum] of comparisons) {
            const servers: readonly ComparedServer[] = [
              { kind: 'service', target: service, context: createContext(service.port) },
              { kind: 'stack', target, context: createContext(target.port) },
            ];
            stack.push({ ...(await compareScenario(scenario, servers, context, folder.path)), target: minimum });
            for (const { context } of servers) context.caller.close();
          }
        } finally {
          await target.close();
        }
      });
      return { stack };
    } finally {
      await folder.remove();
    }
  },
};
