/** Worker thread of the client: runs its share of a `LoadPlan` with autocannon. Controlled by `autocannon-process.ts`. */
import { createHistogram, type RecordableHistogram } from 'node:perf_hooks';
import { parentPort } from 'node:worker_threads';
import autocannon from 'autocannon';
import type { LoadPlan } from './load-client.ts';
import { latencyHistogramOptions } from './load-client.ts';
import { type PreparedRequest, parseRequestLine, readRequestLines, requestHeaders } from './prepared-request.ts';

/** Messages to a worker thread: first prepare, then start. */
export type WorkerOrder =
  | {
      readonly order: 'prepare';
      readonly plan: LoadPlan;
      /** Number of connections of this thread, index of its first connection, and number of connections of all threads. */
      readonly connections: number;
      readonly firstConnection: number;
      readonly allConnections: number;
    }
  | { readonly order: 'go' };

/** Messages from a worker thread. Times are Unix milliseconds, because each thread has its own monotonic clock. */
export type WorkerReport =
  | { readonly report: 'ready' }
  /** All requests are built and the connections are opening. The load excludes both steps. */
  | { readonly report: 'started' }
  | {
      readonly report: 'result';
      readonly answered: number;
      readonly unexpected: number;
      readonly startMs: number;
      readonly lastAnswerMs: number;
      readonly latencyMicros: RecordableHistogram;
    };

const port = parentPort!;
const postReport = (report: WorkerReport) => port.postMessage(report);
let run = () => {};

port.on('message', (order: WorkerOrder) => {
  if (order.order === 'go') return run();
  const shares = assignRequests(order);
  run = () => sendLoad(order.plan, shares);
  postReport({ report: 'ready' });
});

/** Assigns separate requests to each connection, so that no request is sent twice. */
function assignRequests(order: Extract<WorkerOrder, { order: 'prepare' }>): PreparedRequest[][] {
  const lines = readRequestLines(order.plan.requestsFile);
  const size = Math.floor(lines.length / order.allConnections);
  return Array.from({ length: order.connections }, (_, at) => {
    const first = (order.firstConnection + at) * size;
    return lines.slice(first, first + size).map(parseRequestLine);
  });
}

function sendLoad(plan: LoadPlan, shares: readonly PreparedRequest[][]): void {
  const expected = new Set([plan.expectedStatus, ...(plan.alsoExpected ?? [])]);
  // Latencies of autocannon are whole milliseconds.
  const latencyMicros = createHistogram(latencyHistogramOptions);
  let connected = 0;
  let answered = 0;
  let unexpected = 0;
  let startMs = 0;
  let lastAnswerMs = 0;
  const instance = autocannon(
    {
      url: `http://127.0.0.1:${plan.port}`,
      connections: shares.length,
      pipelining: 1,
      ...(plan.singleUse ? { amount: shares[0]!.length * shares.length } : { duration: plan.seconds }),
      sampleInt: 20,
      setupClient: (client) => client.setRequests(shares[connected++]!.map(toAutocannon)),
    },
    (error) => {
      if (error !== null && error !== undefined) throw error;
      clearTimeout(limit);
      run = () => {};
      postReport({ report: 'result', answered, unexpected, startMs, lastAnswerMs, latencyMicros });
    },
  );
  const limit = setTimeout(() => instance.stop(), plan.seconds * 1000);
  instance.on('start', () => {
    startMs = performance.timeOrigin + performance.now();
    lastAnswerMs = startMs;
    postReport({ report: 'started' });
  });
  instance.on('response', (_client, status, _bytes, ms) => {
    answered += 1;
    if (!expected.has(status)) unexpected += 1;
    latencyMicros.record(Math.max(1, Math.round(ms * 1000)));
    lastAnswerMs = performance.timeOrigin + performance.now();
  });
  instance.on('reqError', () => {
    unexpected += 1;
  });
}

function toAutocannon(request: PreparedRequest): autocannon.Request {
  return {
    method: request.method,
    path: request.path,
    headers: requestHeaders(request),
    ...(request.body === undefined ? {} : { body: request.body }),
  };
}
