/** Latencies in microseconds, up to a minute, three figures exact. Histograms of one kind can be added up. */
export const latencyHistogramOptions = { lowest: 1, highest: 60_000_000, figures: 3 };

/** Splits connections over threads as evenly as they go; a thread that would have none is left out. */
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

/** One load on one server: keep-alive connections, one request under way on each (pipelining 1). */
export interface LoadPlan {
  /** On 127.0.0.1. */
  readonly port: number;
  /** Written by `writeRequests`. */
  readonly requestsFile: string;
  readonly connections: number;
  /** How long the load lasts; with `once`, the longest it may. */
  readonly seconds: number;
  /** Each prepared request is sent once and the load ends with the last; else they are repeated from the first. */
  readonly once: boolean;
  /** Any other status is counted in `unexpected`. wrk tells only statuses below 400 from the others. */
  readonly expectedStatus: number;
  /** Other statuses that are right too, where requests of several routes are mixed. */
  readonly alsoExpected?: readonly number[];
}

export interface LoadResult {
  /** Answered requests. */
  readonly requests: number;
  readonly seconds: number;
  /** Answers with another status than the expected one, and requests that failed on the connection. */
  readonly unexpected: number;
  readonly latencyMs: { readonly p50: number; readonly p99: number; readonly p999: number };
  /** CPU time the client itself used during the load: near `seconds` for each of its threads, the client was what gave first. */
  readonly clientCpuSeconds: number;
  /** Threads it sent from. */
  readonly clientThreads: number;
}

export interface LoadClient {
  readonly name: 'wrk' | 'autocannon';
  run(plan: LoadPlan): Promise<LoadResult>;
}
