import { Bench, type FnReturnedObject } from 'tinybench';
import type { MicroEnvironment, MicroResult, RepeatedBenchmark } from './micro.ts';
import { listMicroBenchmarks } from './micros.ts';

/** Milliseconds and samples at least: of a warm-up, then of what counts. */
const fullTimes = { warmupTime: 50, warmupIterations: 1, time: 200, iterations: 3 };
const quickTimes = { warmupTime: 30, warmupIterations: 1, time: 50, iterations: 2 };

export interface MicroRunOptions extends MicroEnvironment {
  /** The most sessions a store is filled with. */
  readonly liveSessions: number;
  /** Told the name of each before it begins. */
  readonly onStart: (name: string) => void;
}

/** Times every hot function, one after the other. */
export async function runMicroBenchmarks(run: MicroRunOptions): Promise<MicroResult[]> {
  const results: MicroResult[] = [];
  for (const micro of listMicroBenchmarks(run)) {
    const { name, call } = micro;
    run.onStart(name);
    const times = 'measure' in micro ? await micro.measure(run) : await measureRepeatedly(micro, run);
    results.push({ name, call, ...times });
  }
  return results;
}

/** Has tinybench repeat one micro. Throws where what it gives shows that it did not do its work. */
export async function measureRepeatedly(
  micro: RepeatedBenchmark,
  place: MicroEnvironment,
): Promise<Pick<MicroResult, 'medianNs' | 'p99Ns'>> {
  const prepared = await micro.prepare(place);
  try {
    const times = place.quick ? quickTimes : fullTimes;
    const bench = new Bench({ ...times, throws: true });
    let given = 0;
    const take = (number: number): void => {
      if (!(number > 0)) throw new Error(`${micro.name} gave ${number}, so it was not done`);
      given += number;
    };
    prepared.beforeEach?.();
    const first = prepared.run();
    take(await first);
    const async = first instanceof Promise;
    let beganMs = 0;
    const beforeEach = (): void => {
      beganMs = performance.now();
      prepared.beforeEach?.();
    };
    // What is done ahead of a sample is in none, but the time it takes ends the benchmark as well.
    const taken = (number: number): FnReturnedObject => {
      take(number);
      return { overriddenIterationCost: performance.now() - beganMs };
    };
    const timed = async ? async () => taken(await prepared.run()) : () => taken(prepared.run() as number);
    bench.add(micro.name, timed, { async, beforeEach });
    const [task] = await bench.run();
    const { result } = task!;
    if (result.state !== 'completed' || !Number.isFinite(given)) throw new Error(`${micro.name} did not complete`);
    const nsOfCall = (ms: number) => (ms * 1e6) / prepared.calls;
    return { medianNs: nsOfCall(result.latency.p50), p99Ns: nsOfCall(result.latency.p99) };
  } finally {
    await prepared.close?.();
  }
}
