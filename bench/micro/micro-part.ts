import { Bench, type FnReturnedObject } from 'tinybench';
import type { BenchPart } from '../bench-part.ts';
import { apiKeyBenchmark, authenticatorBenchmarks } from './auth.ts';
import { errorReplyBenchmark, replyTextBenchmark } from './http.ts';
import {
  clickIdBenchmarks,
  clickTokenBenchmarks,
  subIdBenchmarks,
  unitHashBenchmarks,
  widgetTokenBenchmarks,
} from './ids.ts';
import { analyticsUpdateBenchmark, ledgerAppendBenchmarks, ledgerRecordBenchmarks } from './ledger.ts';
import { createRankingBenchmarks, matchBatchBenchmarks, offerJsonBenchmarks } from './matching.ts';
import type { MicroBenchmark, MicroBenchmarkContext, MicroBenchmarkResult } from './micro-benchmark.ts';
import { fieldValidationBenchmark, sessionCreationBenchmark, sessionResponseBenchmark } from './operations.ts';
import { fieldMergeBenchmark, sessionStoreBenchmarks } from './sessions.ts';
import { verticalRankingBenchmarks } from './verticals.ts';

/** Numbers of sessions in the measured session stores. Store sizes above `sessionsMax` are not measured. */
const storeSizes = [1_000, 10_000, 100_000, 1_000_000];

/**
 * Returns all micro benchmarks. The order follows the path of a request through the service, but benchmarks that need much memory are last.
 */
export function listMicroBenchmarks(quick: boolean, sessionsMax: number): MicroBenchmark[] {
  return [
    apiKeyBenchmark,
    ...authenticatorBenchmarks,
    ...subIdBenchmarks,
    ...unitHashBenchmarks,
    sessionCreationBenchmark,
    sessionResponseBenchmark,
    fieldValidationBenchmark,
    fieldMergeBenchmark,
    ...matchBatchBenchmarks,
    ...createRankingBenchmarks(quick),
    ...verticalRankingBenchmarks,
    ...clickTokenBenchmarks,
    ...offerJsonBenchmarks,
    replyTextBenchmark,
    errorReplyBenchmark,
    ...widgetTokenBenchmarks,
    ...clickIdBenchmarks,
    ...ledgerRecordBenchmarks,
    ...ledgerAppendBenchmarks,
    analyticsUpdateBenchmark,
    ...sessionStoreBenchmarks(storeSizes.filter((size) => size <= sessionsMax)),
  ];
}

/** Minimum duration in milliseconds and minimum number of samples, for the warm-up and for the measurement. */
const fullTimes = { warmupTime: 50, warmupIterations: 1, time: 200, iterations: 3 };
const quickTimes = { warmupTime: 30, warmupIterations: 1, time: 50, iterations: 2 };

/** Runs a benchmark repeatedly with tinybench. Throws if the benchmark returns 0 or a negative number, which indicates a failure. */
export async function runMicroBenchmark(
  micro: MicroBenchmark,
  context: MicroBenchmarkContext,
): Promise<MicroBenchmarkResult> {
  const prepared = await micro.prepare(context);
  try {
    const times = context.quick ? quickTimes : fullTimes;
    const bench = new Bench({ ...times, throws: true });
    const checkResult = (result: number): void => {
      if (!(result > 0)) throw new Error(`${micro.name} returned ${result} instead of a positive number`);
    };
    prepared.beforeEach?.();
    const first = prepared.run();
    checkResult(await first);
    const async = first instanceof Promise;
    let beganMs = 0;
    const beforeEach = (): void => {
      beganMs = performance.now();
      prepared.beforeEach?.();
    };
    // The preparation of a run is not timed, but counts towards the total duration of the benchmark.
    const taken = (result: number): FnReturnedObject => {
      checkResult(result);
      return { overriddenIterationCost: performance.now() - beganMs };
    };
    const timed = async ? async () => taken(await prepared.run()) : () => taken(prepared.run() as number);
    bench.add(micro.name, timed, { async, beforeEach });
    const [task] = await bench.run();
    const { result } = task!;
    if (result.state !== 'completed') throw new Error(`${micro.name} did not complete`);
    const nsOfCall = (ms: number) => (ms * 1e6) / prepared.calls;
    return { name: micro.name, medianNs: nsOfCall(result.latency.p50), p99Ns: nsOfCall(result.latency.p99) };
  } finally {
    await prepared.close?.();
  }
}

export const microBenchPart: BenchPart = {
  name: 'micro',
  description: 'single functions',
  measure: async ({ quick, folder, scale, progress }) => {
    const micro: MicroBenchmarkResult[] = [];
    for (const benchmark of listMicroBenchmarks(quick, scale.sessionsMax)) {
      progress.printProgress(`micro: ${benchmark.name}`);
      micro.push(await runMicroBenchmark(benchmark, { quick, folder }));
    }
    return { micro };
  },
};
