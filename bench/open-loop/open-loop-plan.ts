import type { LoadPlan } from '../load/load-clients.ts';
import type { LatencyMs } from '../statistics.ts';

/** Plan of an open-loop load, in which each request has a scheduled time. If `perSecond` is null, the load is a closed loop. */
export interface OpenLoopPlan extends LoadPlan {
  /** Requests per second; null for a closed loop, in which each connection sends its next request after a reply. */
  readonly perSecond: number | null;
  /** Duration of the warm-up, which sends `perSecond` requests per second; these requests are not measured. */
  readonly warmUpSeconds: number;
  /** Maximum number of requests that can wait for a free connection. A request fails if the queue is full. */
  readonly queueMax: number;
  /** Maximum time from the scheduled time of a request to its reply. A request without a reply before the deadline counts as failed. */
  readonly deadlineMs: number;
}

/** Function that runs an open-loop plan. */
export type OpenLoopRunner = (plan: OpenLoopPlan) => Promise<OpenLoopResult>;

/** Result of all requests that were scheduled after the warm-up. */
export interface OpenLoopResult {
  /** Number of scheduled requests, or of sent requests in a closed loop, which has no schedule. */
  readonly due: number;
  readonly expected: number;
  /** Number of replies with status 429 or 503. */
  readonly refused: number;
  /** Number of requests that were not sent, had no reply before the deadline, or got an unexpected status other than 429 and 503. */
  readonly failed: number;
  /** Rate of replies with an expected status during the schedule, in replies per second; never above the offered rate. */
  readonly achievedPerSecond: number;
  /**
   * Latency from the scheduled time of a request to a reply with an expected status. For a request without a reply before its deadline, the
   * latency is the time until the deadline. The latencies exclude replies with an unexpected status, such as fast rejections.
   */
  readonly latencyMs: LatencyMs;
  /** Delay from the scheduled time of a request until the client sends or queues the request. */
  readonly lagMs: LatencyMs;
  /** Share of the time in which the client's event loop was busy, from 0 to 1. */
  readonly busy: number;
  /**
   * Number of replies, including the replies during the warm-up. The report divides the CPU time of the server by the number of replies.
   */
  readonly answered: number;
}
