import type { LoadPlan } from '../load/load-clients.ts';
import type { LatencyMs } from '../result/bench-result.ts';

/** Plan of a load with scheduled times, or of a closed loop if `perSecond` is null. */
export interface OpenLoopPlan extends LoadPlan {
  /** Requests per second; null for a closed loop, in which each connection sends its next request after a reply. */
  readonly perSecond: number | null;
  /** Duration of the warm-up at the same rate. The result excludes the warm-up. */
  readonly warmUpSeconds: number;
  /** Maximum number of requests that can wait for a free connection. A request fails if the queue is full. */
  readonly queueMax: number;
  /** Maximum time from the scheduled time to the reply. A later reply counts as a failure. */
  readonly deadlineMs: number;
}

/** Function that runs an open-loop plan. */
export type OpenLoopRunner = (plan: OpenLoopPlan) => Promise<OpenLoopResult>;

/** Result of all requests that were scheduled after the warm-up. */
export interface OpenLoopResult {
  /** Number of scheduled requests, or of sent requests in a closed loop. */
  readonly due: number;
  readonly expected: number;
  /** Number of replies with status 429 or 503. */
  readonly refused: number;
  /** Number of requests with another unexpected status, without a reply before the deadline, or that could not be sent. */
  readonly failed: number;
  /** Expected replies per second during the schedule; never above the offered rate. */
  readonly achievedPerSecond: number;
  /**
   * Latency from the scheduled time to an expected reply. A request without a reply counts with its deadline. Other
   * replies, such as fast rejections, do not count.
   */
  readonly latencyMs: LatencyMs;
  /** Delay between the scheduled time and the time at which the client sends the request. */
  readonly lagMs: LatencyMs;
  /** Busy share of the client's event loop, from 0 to 1. */
  readonly busy: number;
  /** Number of replies including the warm-up. The CPU time per request of the server is divided by this number. */
  readonly answered: number;
}
