import type { HttpCaller } from '../load/http-caller.ts';
import type { PreparedRequest } from '../load/prepared-request.ts';
import type { RouteResult } from '../result/bench-result.ts';

/** Kind of request in a scenario, with its expected status. */
export interface RequestKind {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** Query string text that identifies this kind of request. Without `query`, requests with any query string are of this kind. */
  readonly query?: string;
  readonly status: number;
}

/** Measured load on one or several routes. The service and the baseline servers get the same load. */
export interface Scenario {
  /** Name of the scenario for the option `--only`. */
  readonly name: string;
  readonly title: string;
  readonly targets: RouteResult['targets'];
  /** Kinds of requests in the load. For each kind of request, the baseline servers repeat one recorded reply of the service. */
  readonly kinds: readonly RequestKind[];
  /** Whether the service replies only after data is durable, so that the baseline `synced` is also measured. */
  readonly durable?: boolean;
  /** Whether a load must send each request only once, because the service answers a repeated request at lower cost. */
  readonly singleUse: boolean;
  /** Number of offers in a generated catalog. Without `catalogOffers`, the service uses the example catalog. */
  readonly catalogOffers?: number;
  /** Returns the requests of a round; the first round is 0. Requests that prepare the round are not measured. */
  prepareRequests(stage: ScenarioContext, round: number): Promise<PreparedRequest[]>;
}

/** Resources with which a scenario prepares its requests. */
export interface ScenarioContext {
  readonly caller: HttpCaller;
  readonly keys: readonly string[];
  /** Returns the next API key in turn. */
  nextApiKey(): string;
  /** Approximate maximum number of single-use requests in a round. */
  readonly roundRequests: number;
  /** State of the scenario that is kept between the rounds of one service process. */
  readonly state: Map<string, unknown>;
}
