import type { HttpCaller } from '../load/http-caller.ts';
import type { PreparedRequest } from '../load/prepared-request.ts';
import type { RouteResult } from '../result/bench-result.ts';

/** Kind of request in a scenario, with its expected status. */
export interface RequestKind {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** Text in the query string that distinguishes requests to the same path. */
  readonly query?: string;
  readonly status: number;
}

/** Measured load of one or several routes. Baselines that send the same replies get the same load. */
export interface Scenario {
  /** Name of the scenario for the option `--only`. */
  readonly name: string;
  readonly title: string;
  /** Target throughput ratios to baselines, highest first. */
  readonly targets: RouteResult['targets'];
  /** Kinds of requests in the load. Baselines send the same replies to each kind as the service. */
  readonly kinds: readonly RequestKind[];
  /** Whether a reply means that data is durable. If so, the bare server is also measured with a write and sync. */
  readonly durable?: boolean;
  /** Whether each request can be sent only once, because the service answers a repeated request at lower cost. */
  readonly singleUse: boolean;
  /** Number of offers in a generated catalog. Without a value, the service uses the example catalog. */
  readonly catalogOffers?: number;
  /** Returns the requests of a round; the first round is 0. Requests that prepare the round are not measured. */
  prepare(stage: ScenarioStage, round: number): Promise<PreparedRequest[]>;
}

/** Resources for the preparation of a scenario. */
export interface ScenarioStage {
  readonly caller: HttpCaller;
  readonly keys: readonly string[];
  /** Returns the API keys in turn. */
  nextKey(): string;
  /** Approximate maximum of requests per round for single-use requests. */
  readonly roundRequests: number;
  /** State that the scenario keeps between rounds of one service process. */
  readonly state: Map<string, unknown>;
}
