/** Microseconds up to a minute with three significant digits. Histograms with the same options can be added. */
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
  /** Port on 127.0.0.1. */
  readonly port: number;
  /** Written by `writeRequests`. */
  readonly requestsFile: string;
  readonly connections: number;
  /** Duration of the load; maximum duration with `singleUse`. */
  readonly seconds: number;
  /** Sends each request once and ends with the last one. Otherwise requests are repeated. */
  readonly singleUse: boolean;
  /** Replies with other statuses are counted in `unexpected`. wrk only distinguishes statuses below 400. */
  readonly expectedStatus: number;
  /** Other expected statuses of a mix of routes. */
  readonly alsoExpected?: readonly number[];
}

export interface LoadResult {
  /** Answered requests. */
  readonly requests: number;
  readonly seconds: number;
  /** Replies with an unexpected status, and failed requests. */
  readonly unexpected: number;
  readonly latencyMs: { readonly p50: number; readonly p99: number; readonly p999: number };
  /** CPU time of the client. If it is near `seconds` per thread, the client is the bottleneck. */
  readonly clientCpuSeconds: number;
  /** Threads of the client. */
  readonly clientThreads: number;
}

export interface LoadClient {
  readonly name: 'wrk' | 'autocannon';
  run(plan: LoadPlan): Promise<LoadResult>;
}
