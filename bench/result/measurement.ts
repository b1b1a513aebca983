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
