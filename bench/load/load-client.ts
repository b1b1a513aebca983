/** Histogram options for latencies up to a minute, in microseconds with three significant digits. Histograms can be added. */
export const latencyHistogramOptions = { lowest: 1, highest: 60_000_000, figures: 3 };

/** Divides connections evenly among threads and omits threads without any. */
export function splitConnections(
  connections: number,
  threads: number,
): { readonly first: number; readonly count: number }[] {
  const used = Math.min(threads, connections);
  return Array.from({ length: used }, (_, at) => {
    const first = Math.floor((at * connections) / used);
    return { first, count: Math.floor(((at + 1) * connections) / used) - first };
  });
}

/** A load on one server with keep-alive connections and one pending request on each. */
export interface LoadPlan {
  /** Port of the server on 127.0.0.1. */
  readonly port: number;
  /** Path of a request file that `writeRequests` wrote. */
  readonly requestsFile: string;
  readonly connections: number;
  /** Duration of the load; maximum duration with `singleUse`. */
  readonly seconds: number;
  /** Whether the load sends each request once and ends with the last one. Otherwise requests are repeated. */
  readonly singleUse: boolean;
  /** Expected HTTP status. Other replies count as `unexpected`. wrk only distinguishes statuses below and above 400. */
  readonly expectedStatus: number;
  /** Additional expected statuses, for a mix of routes. */
  readonly alsoExpected?: readonly number[];
}

export interface LoadResult {
  /** Number of answered requests. */
  readonly requests: number;
  readonly seconds: number;
  /** Number of replies with an unexpected status and of failed requests. */
  readonly unexpected: number;
  readonly latencyMs: { readonly p50: number; readonly p99: number; readonly p999: number };
  /** CPU time of the client in seconds. A value near `seconds` per thread means that the client is the bottleneck. */
  readonly clientCpuSeconds: number;
  /** Number of client threads. */
  readonly clientThreads: number;
}

export interface LoadClient {
  readonly name: 'wrk' | 'autocannon';
  run(plan: LoadPlan): Promise<LoadResult>;
}
