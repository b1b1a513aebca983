import type { Vertical } from '../../src/domain/vertical.ts';
import type { HttpCaller } from '../load/http-caller.ts';
import type { PreparedRequest } from '../load/prepared-request.ts';
import type { RouteResult } from '../result/bench-result.ts';

/** Kind of request in a scenario, with its expected status. */
export interface RequestKind {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** Text that the query string must contain. If `query` is absent, every query string matches. */
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
  /** Whether the service replies only after a disk write. If true, the baseline `synced` is measured too. */
  readonly durable?: boolean;
  /** Whether the load sends each request only once, because a repeated request would cost the service less. */
  readonly singleUse: boolean;
  /** Vertical of the API keys and of the generated catalog. Default: personal loans. */
  readonly vertical?: Vertical;
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
  /** Target number of requests in a round, if the scenario sends each request only once. */
  readonly roundRequests: number;
  /** Data that the scenario reuses in later rounds with the same service process, such as sessions. */
  readonly state: Map<string, unknown>;
}
