/** Carries out one `LoadPlan` (JSON, the only argument) with autocannon and prints the `LoadResult`. */
import { createHistogram } from 'node:perf_hooks';
import autocannon from 'autocannon';
import type { LoadPlan, LoadResult } from './load-client.ts';
import { type PreparedRequest, readRequests, requestHeaders } from './prepared-request.ts';

const plan = JSON.parse(process.argv[2]!) as LoadPlan;
const requests = await readRequests(plan.requestsFile);
const connections = Math.min(plan.connections, requests.length);

// Each connection has its own share of the requests, of equal size, so that none is sent twice.
const share = Math.floor(requests.length / connections);
let connected = 0;

// Its own latency figures are whole milliseconds; these are microseconds.
const latency = createHistogram({ lowest: 1, highest: 60_000_000, figures: 3 });
let answered = 0;
let unexpected = 0;
let lastAnswer = 0;

let cpuBefore = process.cpuUsage();
let start = 0;
const instance = autocannon(
  {
    url: `http://127.0.0.1:${plan.port}`,
    connections,
    pipelining: 1,
    ...(plan.once ? { amount: share * connections } : { duration: plan.seconds }),
    sampleInt: 20,
    setupClient: (client) => {
      const first = connected++ * share;
      client.setRequests(requests.slice(first, first + share).map(toAutocannon));
    },
  },
  (error) => {
    if (error !== null && error !== undefined) throw error;
    clearTimeout(limit);
    const cpu = process.cpuUsage(cpuBefore);
    const result: LoadResult = {
      requests: answered,
      seconds: (lastAnswer - start) / 1000,
      unexpected,
      latencyMs: {
        p50: latency.percentile(50) / 1000,
        p99: latency.percentile(99) / 1000,
        p999: latency.percentile(99.9) / 1000,
      },
      clientCpuSeconds: (cpu.user + cpu.system) / 1e6,
      clientThreads: 1,
    };
    process.stdout.write(JSON.stringify(result));
  },
);
const limit = setTimeout(() => instance.stop(), plan.seconds * 1000);

// By now all requests are built and all connections begun, none of which belongs to the load.
instance.on('start', () => {
  cpuBefore = process.cpuUsage();
  start = performance.now();
});

instance.on('response', (_client, status, _bytes, ms) => {
  answered += 1;
  if (status !== plan.expectedStatus) unexpected += 1;
  latency.record(Math.max(1, Math.round(ms * 1000)));
  lastAnswer = performance.now();
});
instance.on('reqError', () => {
  unexpected += 1;
});

function toAutocannon(request: PreparedRequest): autocannon.Request {
  return {
    method: request.method,
    path: request.path,
    headers: requestHeaders(request),
    ...(request.body === undefined ? {} : { body: request.body }),
  };
}
