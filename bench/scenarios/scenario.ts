import type { HttpCaller } from '../load/http-caller.ts';
import type { PreparedRequest } from '../load/prepared-request.ts';
import type { RouteResult } from '../result/bench-result.ts';

/** One kind of request, and the one right answer to it. */
export interface RequestKind {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** Tells apart what one path is asked in several ways: this stands in the query string. */
  readonly query?: string;
  readonly status: number;
}

/** One figure: a route of the service under load, or several, against baselines that answer the same. */
export interface Scenario {
  /** What `--only` takes. */
  readonly name: string;
  readonly title: string;
  /** Throughput over a baseline's which the project aims at, the highest first; none where there is no aim. */
  readonly targets: RouteResult['targets'];
  /** The kinds of requests it sends: each baseline answers each of them as the service did. */
  readonly kinds: readonly RequestKind[];
  /** An answer means that something is on disk, so the bare server is measured with a write and a sync as well. */
  readonly durable?: boolean;
  /** Every prepared request may be sent once only, since the second would cost less. */
  readonly singleUse: boolean;
  /** Offers of a generated catalog; the example catalog when absent. */
  readonly catalogOffers?: number;
  /** What one round sends. `round` counts from 0. Whatever it asks of the service is outside the measurement. */
  prepare(stage: ScenarioStage, round: number): Promise<PreparedRequest[]>;
}

/** What a scenario has at hand while it prepares. */
export interface ScenarioStage {
  readonly caller: HttpCaller;
  readonly keys: readonly string[];
  /** The keys in turn, so that the requests of all rounds are spread evenly over them. */
  nextKey(): string;
  /** Roughly how many requests one round should have at most where each may be sent once only. */
  readonly roundRequests: number;
  /** What the scenario keeps from round to round; a new one for every service process. */
  readonly state: Map<string, unknown>;
}
