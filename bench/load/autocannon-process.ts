/**
 * Process of the autocannon client. Runs `LoadPlan`s one after the other in worker threads that share the connections. The process
 * is reused, so that its code is already compiled. `autocannon-client.ts` controls the process over IPC. The only argument is the
 * number of threads.
 */
import { createHistogram } from 'node:perf_hooks';
import { Worker } from 'node:worker_threads';
import type { WorkerOrder, WorkerReport } from './autocannon-worker.ts';
import type { LoadPlan, LoadResult } from './load-client.ts';
import { latencyHistogramOptions, splitConnections } from './load-client.ts';
import { readRequestLines } from './prepared-request.ts';

type Result = Extract<WorkerReport, { report: 'result' }>;

const script = new URL('./autocannon-worker.ts', import.meta.url);
const workers = Array.from({ length: Number(process.argv[2]) }, () => new Worker(script));

process.on('message', async (plan: LoadPlan) => {
  process.send!(await run(plan));
});
// The parent process has exited.
process.once('disconnect', () => process.exit());

async function run(plan: LoadPlan): Promise<LoadResult> {
  const requests = readRequestLines(plan.requestsFile).length;
  const connections = Math.min(plan.connections, requests);
  const shares = splitConnections(connections, workers.length);
  const used = workers.slice(0, shares.length);
  await Promise.all(
    used.map((worker, at) => {
      const { first, count } = shares[at]!;
      sendOrder(worker, {
        order: 'prepare',
        plan,
        connections: count,
        firstConnection: first,
        allConnections: connections,
      });
      return nextReport(worker, 'ready');
    }),
  );
  const allStarted = Promise.all(used.map((worker) => nextReport(worker, 'started')));
  const allDone = Promise.all(used.map((worker) => nextReport(worker, 'result') as Promise<Result>));
  for (const worker of used) sendOrder(worker, { order: 'go' });
  await allStarted;
  const cpuBefore = process.cpuUsage();
  const results = await allDone;
  const cpu = process.cpuUsage(cpuBefore);

  const latency = createHistogram(latencyHistogramOptions);
  for (const { latencyMicros } of results) latency.add(latencyMicros);
  const sum = (figure: (result: Result) => number) => results.reduce((total, result) => total + figure(result), 0);
  return {
    requests: sum(({ answered }) => answered),
    seconds:
      (Math.max(...results.map(({ lastAnswerMs }) => lastAnswerMs)) -
        Math.min(...results.map(({ startMs }) => startMs))) /
      1000,
    unexpected: sum(({ unexpected }) => unexpected),
    latencyMs: {
      p50: latency.percentile(50) / 1000,
      p99: latency.percentile(99) / 1000,
      p999: latency.percentile(99.9) / 1000,
    },
    clientCpuSeconds: (cpu.user + cpu.system) / 1e6,
    clientThreads: used.length,
  };
}

function sendOrder(worker: Worker, what: WorkerOrder): void {
  worker.postMessage(what);
}

/** Returns the next report of a kind. Workers send reports in a fixed order, so no report of another kind is lost. */
function nextReport(worker: Worker, kind: WorkerReport['report']): Promise<WorkerReport> {
  return new Promise((resolve) => {
    const take = (report: WorkerReport) => {
      if (report.report !== kind) return;
      worker.off('message', take);
      resolve(report);
    };
    worker.on('message', take);
  });
}
