import type { LatencyMs } from '../result/bench-result.ts';

/** One load whose send times are fixed in advance, whatever the answers do; or, with `formatRate` null, a closed loop. */
export interface OpenLoopPlan {
  /** On 127.0.0.1. */
  readonly port: number;
  /** Written by `writeRequests`; sent in order, and again from the first unless `once`. */
  readonly requestsFile: string;
  /** Each prepared request is sent once at most: the load ends with the last, if its time has not run out before. */
  readonly once: boolean;
  /** Requests due a second. Null: each connection sends its next request as soon as it has its answer. */
  readonly perSecond: number | null;
  /** `poisson`: independent of each other, as those of many visitors are; `even`: at equal distances. */
  readonly arrivals: 'even' | 'poisson';
  /** Of the arrivals: the same seed gives the same times. */
  readonly seed: number;
  /** Sent ahead on the same schedule and not counted, so that neither side is measured while it warms up. */
  readonly warmUpSeconds: number;
  readonly seconds: number;
  readonly connections: number;
  /** Requests that are due and wait for a connection; one more is not sent at all, and has failed. */
  readonly waitingMax: number;
  /** From when a request was due to its answer; beyond it, it has failed. */
  readonly deadlineMs: number;
  readonly expectedStatus: number;
  /** Further statuses that are as good, where a load mixes routes. */
  readonly alsoExpected?: readonly number[];
}

/** Sends the load of one plan. */
export type OpenLoopRunner = (plan: OpenLoopPlan) => Promise<OpenLoopResult>;

/** Of the requests that were due after the warm-up. */
export interface OpenLoopResult {
  /** Requests that were due: each is one of expected, refused and failed. In a closed loop, those that were sent. */
  readonly due: number;
  readonly expected: number;
  /** Answers 429 and 503. */
  readonly refused: number;
  readonly failed: FailureCounts;
  /** Expected answers that came while requests were still becoming due, over that time: never more than were offered. */
  readonly achievedPerSecond: number;
  /**
   * From when it was due: of expected answers, and of those that did not come by the deadline, which count as long as they
   * were waited for. Neither a quick refusal nor a silent server makes it look better.
   */
  readonly latencyMs: LatencyMs;
  /** How late the client came to what was due, whether or not a connection was free then. */
  readonly lagMs: LatencyMs;
  /** Share of the time, from 0 to 1, in which the client's event loop was not waiting for something to do. */
  readonly busy: number;
  readonly clientCpuSeconds: number;
  /** Answers of whatever status, the warm-up's too: what the server's CPU time is to be divided by. */
  readonly answered: number;
}

export interface FailureCounts {
  /** Answers of any other status. */
  readonly status: number;
  /** The connection broke, or what came over it was no answer. */
  readonly connection: number;
  readonly deadline: number;
  /** Too many were waiting for a connection. */
  readonly notSent: number;
}

export function totalFailures({ status, connection, deadline, notSent }: FailureCounts): number {
  return status + connection + deadline + notSent;
}
