/** Process of the autocannon client: runs the `LoadPlan`s that `autocannon-client.ts` sends over IPC, one after the other. */
import { createHistogram } from 'node:perf_hooks';
import autocannon from 'autocannon';
import { percentilesMs } from '../statistics.ts';
import type { LoadPlan, LoadRunResult, RecordedReply } from './load-clients.ts';
import { readRequestFile, requestHeaders } from './prepared-request.ts';

process.on('message', async (plan: LoadPlan) => {
  process.send!(await run(plan));
});
// The IPC channel closes when the parent process exits.
process.once('disconnect', () => process.exit());

/** Maximum time to wait for the first reply. */
const connectSecondsMax = 10;

async function run(plan: LoadPlan): Promise<LoadRunResult> {
  const { recordHeaders } = plan;
  const replies: RecordedReply[] = [];
  const record =
    recordHeaders === undefined
      ? {}
      : {
          onResponse: (status: number, _body: string, _context: object, headers: autocannon.Request['headers']) =>
            void replies.push({ status, headers: selectHeaders(headers, recordHeaders) }),
        };
  const requests = (await readRequestFile(plan.requestsFile)).map((request): autocannon.Request => {
    const { key: _, ...message } = request;
    return { ...message, headers: requestHeaders(request), ...record };
  });
  const connections = Math.min(plan.connections, requests.length);
  // Each connection has its own requests, so that no request is sent twice.
  const share = Math.floor(requests.length / connections);
  const expected = new Set([plan.expectedStatus, ...(plan.alsoExpected ?? [])]);
  // autocannon reports latencies only in whole milliseconds.
  const latencyMicros = createHistogram({ lowest: 1, highest: 60_000_000, figures: 3 });
  let connected = 0;
  let answered = 0;
  let unexpected = 0;
  let startMs = 0;
  let lastAnswerMs = 0;
  let cpuBefore = process.cpuUsage();
  const ended = Promise.withResolvers<void>();
  const instance = autocannon(
    {
      url: `http://127.0.0.1:${plan.port}`,
      connections,
      pipelining: 1,
      ...(plan.singleUse ? { amount: share * connections } : { duration: plan.seconds + connectSecondsMax }),
      sampleInt: 20,
      setupClient: (client) => {
        const first = share * connected++;
        client.setRequests(requests.slice(first, first + share));
      },
    },
    (error) => (error ? ended.reject(error) : ended.resolve()),
  );
  let limit: NodeJS.Timeout | undefined;
  // The time limit of a load starts with the first reply, because connections open slowly on a busy machine.
  const startLimit = () => {
    limit ??= setTimeout(() => instance.stop(), plan.seconds * 1000);
  };
  instance.on('start', () => {
    // Starts the measured time at the event `start`, which autocannon emits after building all requests.
    cpuBefore = process.cpuUsage();
    startMs = performance.now();
    lastAnswerMs = startMs;
  });
  instance.on('response', (_client, status, _bytes, ms) => {
    startLimit();
    answered += 1;
    if (!expected.has(status)) unexpected += 1;
    latencyMicros.record(Math.max(1, Math.round(ms * 1000)));
    lastAnswerMs = performance.now();
  });
  instance.on('reqError', () => {
    startLimit();
    unexpected += 1;
  });
  await ended.promise;
  clearTimeout(limit);
  const { user, system } = process.cpuUsage(cpuBefore);
  return {
    requests: answered,
    seconds: (lastAnswerMs - startMs) / 1000,
    unexpected,
    latencyMs: percentilesMs(latencyMicros),
    clientCpuSeconds: (user + system) / 1e6,
    ...(recordHeaders === undefined ? {} : { replies }),
  };
}

/** Returns the headers with the given lower-case names. */
function selectHeaders(headers: autocannon.Request['headers'], names: readonly string[]): RecordedReply['headers'] {
  const entries = Object.entries(headers ?? {}).map(([name, value]) => [name.toLowerCase(), String(value)] as const);
  return Object.fromEntries(entries.filter(([name]) => names.includes(name)));
}
