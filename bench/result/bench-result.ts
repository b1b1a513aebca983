import type { BenchScale } from '../bench-part.ts';
import type { benchResultFormat } from '../capacity/benchmark-result.ts';
import type { ConsoleMeasurement } from '../consoles/console-part.ts';
import type { LedgerMeasurement } from '../history/history-part.ts';
import type { Machine } from '../machine.ts';
import type { MicroBenchmarkResult } from '../micro/micro-benchmark.ts';
import type { LatencyMs } from '../statistics.ts';

/**
 * Servers under the same load: the service and baselines. The baseline `synced` writes to disk before each reply. `synced` is measured only
 * for routes that reply after their data is durable.
 */
export const benchServerKinds = ['service', 'bare', 'synced', 'node-http', 'fastify'] as const;
export type BenchServerKind = (typeof benchServerKinds)[number];
export type BaselineServerKind = Exclude<BenchServerKind, 'service'>;

/** Result of one server under one load. Values that the system does not report are null. */
export interface ServerMeasurement {
  /** Number of answered requests. An unexpected reply makes the measurement fail. */
  readonly requests: number;
  readonly seconds: number;
  readonly perSecond: number;
  readonly latencyMs: LatencyMs;
  /**
   * CPU time that the load client used, in seconds. A value near `seconds` shows that the load client, which has one thread, was the
   * bottleneck.
   */
  readonly clientCpuSeconds: number;
  /**
   * CPU time of all server threads per request, in microseconds. The CPU time includes background work after the load, until the server is
   * idle again.
   */
  readonly cpuMicros: number | null;
  /** CPU time of the socket thread per request in microseconds. */
  readonly mainThreadCpuMicros: number | null;
  /** Figures of the server process; null if the process does not report them. */
  readonly process: ServerResourceUsage | null;
}

/** Event loop, garbage collection and memory of the server during one load. */
export interface ServerResourceUsage {
  /** Event loop delay in milliseconds. */
  readonly eventLoopDelayMs: { readonly p50: number; readonly p99: number; readonly max: number };
  /** Memory at the end of the load, in MiB. */
  readonly rssMiB: number;
  readonly heapUsedMiB: number;
  readonly gc: { readonly count: number; readonly totalMs: number; readonly longestMs: number };
}

/** Results of one route under the same load on every server, in alternating rounds. */
export interface RouteResult {
  /** Name of the scenario for the option `--only`, such as `session`. */
  readonly name: string;
  readonly title: string;
  readonly client: 'autocannon' | 'wrk';
  /** Mean body size of the responses that the baseline servers send, in bytes. */
  readonly bodyBytes: number;
  /** Target for each baseline server: minimum throughput of the service, divided by the throughput of the baseline server. */
  readonly targets: Readonly<Partial<Record<BaselineServerKind, number>>>;
  /** Measurements of each server, one per round. In each round, the servers were measured one after the other. */
  readonly servers: readonly { readonly kind: BenchServerKind; readonly rounds: readonly ServerMeasurement[] }[];
  /** If true, the load client was the bottleneck, and the fastest server can answer more requests than the measurement shows. */
  readonly clientSaturated: boolean;
}

/** Measurements of one route on the service and on a server of Fastify, Redis and PostgreSQL, one per round. */
export interface StackComparison {
  readonly name: string;
  readonly title: string;
  readonly client: 'autocannon' | 'wrk';
  /** Target: answers per CPU second of all processes of the service, divided by those of the other server. */
  readonly target: number;
  readonly service: readonly ServerMeasurement[];
  readonly stack: readonly ServerMeasurement[];
}

/** Result of an exact limit of an API key. A limit that is not exact makes the benchmark fail. */
export interface LimitResult {
  readonly name: string;
  /** Route whose requests count toward the limit. */
  readonly route: string;
  /** Number of requests that each window admits. */
  readonly limit: number;
  readonly loads: readonly LimitLoad[];
  /** Measurements of one route, one per round: of requests below all limits, and of requests that exceed this limit. */
  readonly served: readonly ServerMeasurement[];
  readonly refused: readonly ServerMeasurement[];
}

/** Load of concurrent requests with one key. */
export interface LimitLoad {
  /** State of the window before the load. */
  readonly window: 'unused' | 'partly used' | 'used up' | 'ended';
  readonly connections: number;
  readonly sent: number;
  /** Number of requests that were admitted, which is the number that the limit allowed. */
  readonly admitted: number;
}

/** Measurements of the service with increasing values of one variable. Each point of the curve is the result of one open-loop load. */
export interface LoadCurveResult {
  readonly name: 'offered-load' | 'live-sessions';
  readonly title: string;
  readonly points: readonly LoadCurvePoint[];
}

export interface LoadCurvePoint extends LoadMeasurement {
  /** Value on the x axis of the curve: the offered requests per second, or the number of live sessions. */
  readonly x: number;
  /** Measurement of this point on the baseline server `bare`; absent if only the service was measured. */
  readonly bare?: LoadMeasurement;
}

/** Result of an open-loop load. */
export interface LoadMeasurement {
  /** Scheduled requests per second. */
  readonly offeredPerSecond: number;
  /** Number of replies with an expected status, per second. */
  readonly achievedPerSecond: number;
  /** Latency from the scheduled time of a request to its reply. */
  readonly latencyMs: LatencyMs;
  /** Number of replies with status 429 or 503, which do not count towards the throughput. */
  readonly refused: number;
  readonly failed: number;
  readonly cpuMicros: number | null;
  readonly process: ServerResourceUsage | null;
  readonly client: OpenLoopClientUsage;
}

/** Lag and event loop usage of the load client, which show whether the load client was the bottleneck. */
export interface OpenLoopClientUsage {
  /** Delay from the scheduled time of a request until the client sends the request; included in the latency. */
  readonly lagMs: LatencyMs;
  /** Share of the time in which the client's event loop was busy, from 0 to 1. */
  readonly busy: number;
  /** If true, the load client was saturated, and the measured latencies are too high. */
  readonly saturated: boolean;
}

/** Memory per live session. */
export interface SessionMemoryUsage {
  /** Number of form fields that each session stores. */
  readonly fields: number;
  /** Bytes of heap and of resident memory that each additional session uses. */
  readonly heapBytes: number;
  readonly residentBytes: number;
  readonly points: readonly { readonly sessions: number; readonly heapUsedMiB: number; readonly rssMiB: number }[];
  /** Default value of SVC_MAX_SESSIONS on this machine. */
  readonly sessionsMax: number;
}

/** Result of one run of `make bench`. The report and the capacity planner read the result. */
export interface BenchResult {
  readonly format: typeof benchResultFormat;
  /** Start time of the run in ISO 8601 format. */
  readonly startedAt: string;
  /** Whether the run was short, so that its figures are only indicative. */
  readonly quick: boolean;
  /** Measured commit with suffix `+` if files were changed; null outside a Git checkout. */
  readonly commit: string | null;
  readonly machine: Machine;
  readonly scale: BenchScale;
  /** Results by route. All of these members are empty or null if the run did not measure them. */
  readonly routes: readonly RouteResult[];
  readonly stack: readonly StackComparison[];
  readonly limits: readonly LimitResult[];
  readonly curves: readonly LoadCurveResult[];
  readonly memory: SessionMemoryUsage | null;
  readonly micro: readonly MicroBenchmarkResult[];
  readonly history: readonly LedgerMeasurement[];
  readonly consoles: readonly ConsoleMeasurement[];
}

/** Adds a part's result to the run's result: appends the part's lists to the run's lists, and replaces other values of the run. */
export function mergePartResult(result: BenchResult, found: Partial<BenchResult>): BenchResult {
  const whole: Record<string, unknown> = { ...result };
  for (const [name, value] of Object.entries(found)) {
    const before = whole[name];
    whole[name] = Array.isArray(before) && Array.isArray(value) ? [...before, ...value] : value;
  }
  return whole as unknown as BenchResult;
}
