import type { BenchScale } from '../bench-part.ts';
import type { CrossoverCell } from '../crossover/crossover-part.ts';
import type { HistoryFigure } from '../history/history-measure.ts';
import type { Machine } from '../machine.ts';
import type { MicroResult } from '../micro/micro-benchmark.ts';

/**
 * The servers that are put under the same load: the service, and those that only read a request and write an answer. `synced`
 * keeps something on disk before each of them, so it is for routes whose answer means just that.
 */
export const serverKinds = ['service', 'bare', 'synced', 'node-http', 'fastify'] as const;
export type ServerKind = (typeof serverKinds)[number];
export type BaselineKind = Exclude<ServerKind, 'service'>;

export interface LatencyMs {
  readonly p50: number;
  readonly p99: number;
  readonly p999: number;
}

/** What one server did under one load. What the system does not tell is null. */
export interface Measurement {
  /** Answered as expected; whatever else came back fails the load. */
  readonly requests: number;
  readonly seconds: number;
  readonly perSecond: number;
  readonly latencyMs: LatencyMs;
  /** CPU time of the client itself: near `seconds` for each of its threads, the client was what gave first. */
  readonly clientCpuSeconds: number;
  /** Threads the client sent from. */
  readonly clientThreads: number;
  /** CPU time of the server for one request, all threads, until it was quiet again. Microseconds. */
  readonly cpuMicros: number | null;
  /** The same for the thread that serves the sockets. */
  readonly mainThreadCpuMicros: number | null;
  /** What the server's own process saw meanwhile; null where it could not be asked. */
  readonly process: ProcessFigures | null;
}

/** Of the server's main thread and its process, during one load. */
export interface ProcessFigures {
  /** How late the event loop came to a timer. Milliseconds. */
  readonly eventLoopDelayMs: { readonly p50: number; readonly p99: number; readonly max: number };
  /** At the end of the load, in MiB. */
  readonly rssMiB: number;
  readonly heapUsedMiB: number;
  readonly gc: { readonly count: number; readonly totalMs: number; readonly longestMs: number };
}

/** One route under the same load on every server, round after round, in turn. */
export interface RouteResult {
  /** What `--only` takes, e.g. `session`. */
  readonly name: string;
  readonly title: string;
  readonly client: 'autocannon' | 'wrk';
  /** Size of the baselines' body: the middle size of the service's. */
  readonly bodyBytes: number;
  /** Throughput over a baseline's that the project aims at, at least. */
  readonly targets: readonly { readonly over: BaselineKind; readonly ratio: number }[];
  /** As many rounds for each; those of one place were measured one right after the other. */
  readonly servers: readonly { readonly kind: ServerKind; readonly rounds: readonly Measurement[] }[];
  /** Whether the client, not the fastest server, was what gave first: then that throughput ratio is too high. */
  readonly clientSaturated: boolean;
}

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

/** A limit under more load than it lets through, from many connections at once. */
export interface LimitResult {
  /** e.g. `requests-per-minute`. */
  readonly name: string;
  readonly title: string;
  readonly limit: number;
  readonly connections: number;
  readonly attempted: number;
  readonly admitted: number;
  /** Answers 429. */
  readonly refused: number;
  /** Answers that were neither, which there must be none of. */
  readonly other: number;
  /** What had to be admitted; `admitted` is this very number, or the limit is not exact. */
  readonly expected: number;
  /** CPU time of the server, all threads, for one refusal and for one admitted request. Microseconds. */
  readonly refusalCpuMicros: number | null;
  readonly admittedCpuMicros: number | null;
  /** Refusals answered a second. */
  readonly refusalsPerSecond: number;
  /** Whether the client gave first: then the service could have refused more. */
  readonly clientSaturated?: boolean;
}

/** Let through exactly what it lets through, and nothing was answered by anything else. */
export function isLimitExact({ admitted, expected, other }: LimitResult): boolean {
  return admitted === expected && other === 0;
}

/** What is wrong with how a limit was enforced, in a sentence; null where it is exact. */
export function describeLimitFailure(limit: LimitResult): string | null {
  if (isLimitExact(limit)) return null;
  const { name, attempted, admitted, expected, other } = limit;
  return `the limit ${name} is not exact: of ${attempted} requests ${admitted} were admitted where ${expected} had to be, and ${other} were answered otherwise`;
}

export const benchResultFormat = 2;

/** Everything one run of the benchmarks found: the file for machines, which report, gate and planner are made from. */
export interface BenchResult {
  readonly format: typeof benchResultFormat;
  /** ISO 8601. */
  readonly startedAt: string;
  /** Whether it was short: its figures are indicative only. */
  readonly quick: boolean;
  /** The commit measured, with `+` behind it where files had been changed; null outside a checkout. */
  readonly commit: string | null;
  readonly machine: Machine;
  readonly scale: BenchScale;
  /** One for each part that was run; a part that was not run left its list empty. */
  readonly routes: readonly RouteResult[];
  readonly limits: readonly LimitResult[];
  readonly curves: readonly CurveResult[];
  readonly memory: MemoryResult | null;
  readonly micro: readonly MicroResult[];
  readonly crossover: readonly CrossoverCell[];
  readonly history: readonly HistoryFigure[];
}

/** A result with what one more part found. Lists are put behind one another; anything else is taken over. */
export function mergeFindings(result: BenchResult, found: Partial<BenchResult>): BenchResult {
  const whole: Record<string, unknown> = { ...result };
  for (const [name, value] of Object.entries(found)) {
    const before = whole[name];
    whole[name] = Array.isArray(before) && Array.isArray(value) ? [...before, ...value] : value;
  }
  return whole as unknown as BenchResult;
}
