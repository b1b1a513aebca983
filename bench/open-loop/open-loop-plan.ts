import type { LatencyMs } from '../result/bench-result.ts';

/** A load with scheduled times, or a closed loop if `perSecond` is null. */
export interface OpenLoopPlan {
  /** Port on 127.0.0.1. */
  readonly port: number;
  /** Written by `writeRequests`. Sent in order, and repeated unless `singleUse`. */
  readonly requestsFile: string;
  /** Sends each request at most once and ends with the last one. */
  readonly singleUse: boolean;
  /** Requests per second. Null: each connection sends its next request after a reply. */
  readonly perSecond: number | null;
  /** `poisson`: like independent visitors; `even`: at equal intervals. */
  readonly arrivals: 'even' | 'poisson';
  /** Seed of the arrival times. */
  readonly seed: number;
  /** Uncounted warm-up on the same schedule. */
  readonly warmUpSeconds: number;
  readonly seconds: number;
  readonly connections: number;
  /** Maximum number of requests queued for a connection. Further requests fail. */
  readonly queueMax: number;
  /** Time from the scheduled time to the reply. Later replies count as failures. */
  readonly deadlineMs: number;
  readonly expectedStatus: number;
  /** Other expected statuses of a mix of routes. */
  readonly alsoExpected?: readonly number[];
}

/** Sends the load of a plan. */
export type OpenLoopRunner = (plan: OpenLoopPlan) => Promise<OpenLoopResult>;

/** Result of the requests after the warm-up. */
export interface OpenLoopResult {
  /** Scheduled requests: expected, refused and failed ones. In a closed loop, sent requests. */
  readonly due: number;
  readonly expected: number;
  /** Replies with 429 and 503. */
  readonly refused: number;
  readonly failed: FailureCounts;
  /** Expected replies per second during the schedule; never above the offered rate. */
  readonly achievedPerSecond: number;
  /**
   * Latency from the scheduled time. Includes requests without a reply by the deadline, so that neither fast rejections nor a
   * silent server improve it.
   */
  readonly latencyMs: LatencyMs;
  /** Delay of the client after the scheduled time. */
  readonly lagMs: LatencyMs;
  /** Busy share of the client's event loop, from 0 to 1. */
  readonly busy: number;
  readonly clientCpuSeconds: number;
  /** All replies including the warm-up, by which the CPU time of the server is divided. */
  readonly answered: number;
}

export interface FailureCounts {
  /** Replies with other statuses. */
  readonly status: number;
  /** Broken connections and malformed responses. */
  readonly connection: number;
  readonly deadline: number;
  /** Requests that exceeded the queue for connections. */
  readonly notSent: number;
}

export function totalFailures({ status, connection, deadline, notSent }: FailureCounts): number {
  return status + connection + deadline + notSent;
}
