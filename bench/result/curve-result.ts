import type { LatencyMs, ProcessFigures } from './measurement.ts';

/** What the service does as one thing grows: each point a load sent on schedule, whatever the answers do. */
export interface CurveResult {
  readonly name: 'offered-load' | 'live-sessions' | 'catalog-size' | 'matcher-threads' | 'keys';
  readonly title: string;
  /** What grows, with its unit, e.g. `requests offered a second`. */
  readonly xLabel: string;
  readonly logarithmic: boolean;
  readonly points: readonly CurvePoint[];
}

export interface CurvePoint extends LoadFigures {
  readonly x: number;
  /** What the bare server made of the same load, right before or after; absent where it was not asked. */
  readonly bare?: LoadFigures;
}

/** A load sent on schedule, and what server and client made of it. */
export interface LoadFigures {
  /** Requests scheduled a second, and answered as expected a second. */
  readonly offeredPerSecond: number;
  readonly achievedPerSecond: number;
  /** From the moment a request was scheduled for, not from when it could be sent. */
  readonly latencyMs: LatencyMs;
  /** Answers 429 and 503: never throughput. */
  readonly refused: number;
  readonly failed: number;
  readonly cpuMicros: number | null;
  readonly process: ProcessFigures | null;
  readonly client: OpenLoopClient;
}

/** How the client itself bore the load, so that a client at its end is not taken for a server at its end. */
export interface OpenLoopClient {
  /** How late it came to what was due, whether or not a connection was free then. A part of every latency. */
  readonly lagMs: LatencyMs;
  /** Share of the time in which its event loop had something to do, or waited for a core to do it on. */
  readonly busy: number;
  /** Whether the latencies of this point tell of the client as much as of the server. */
  readonly saturated: boolean;
}

/** What live sessions take. */
export interface MemoryResult {
  /** Fields that each session held. */
  readonly fields: number;
  /** Slope of the heap, and of resident memory, over the sessions. Bytes a session. */
  readonly heapBytes: number;
  readonly residentBytes: number;
  readonly points: readonly { readonly sessions: number; readonly heapUsedMiB: number; readonly rssMiB: number }[];
  /** The most live sessions the service holds on this machine (SVC_MAX_SESSIONS as it sets it itself). */
  readonly sessionsMax: number;
}
