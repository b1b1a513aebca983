import type { HttpCaller } from '../load/http-caller.ts';
import type { PreparedRequest } from '../load/prepared-request.ts';
import type { RouteResult } from '../result/bench-result.ts';

/** A kind of request with its expected status. */
export interface RequestKind {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** Text in the query string that distinguishes requests to the same path. */
  readonly query?: string;
  readonly status: number;
}

/** A measured load: one or several routes of the service, compared with baselines that send the same replies. */
export interface Scenario {
  /** Name for `--only`. */
  readonly name: string;
  readonly title: string;
  /** Target throughput ratios to baselines, highest first. */
  readonly targets: RouteResult['targets'];
  /** Kinds of requests. Each baseline replies to each like the service. */
  readonly kinds: readonly RequestKind[];
  /** A reply means durability, so the bare server is also measured with a write and sync. */
  readonly durable?: boolean;
  /** Every request may be sent only once, because a repetition would be cheaper. */
  readonly singleUse: boolean;
  /** Size of a generated catalog; default: the example catalog. */
  readonly catalogOffers?: number;
  /** Prepares the requests of a round, which counts from 0. Requests during the preparation are not measured. */
  prepare(stage: ScenarioStage, round: number): Promise<PreparedRequest[]>;
}

/** Resources for the preparation of a scenario. */
export interface ScenarioStage {
  readonly caller: HttpCaller;
  readonly keys: readonly string[];
  /** Returns the keys in turn. */
  nextKey(): string;
  /** Approximate maximum of requests per round for single-use requests. */
  readonly roundRequests: number;
  /** State that the scenario keeps between rounds of one service process. */
  readonly state: Map<string, unknown>;
}
