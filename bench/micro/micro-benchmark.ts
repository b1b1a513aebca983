import { hash } from 'node:crypto';

/** Benchmark of a single function. The folder `bench/micro` has one file for each measured folder of `src`. */
export type MicroBenchmark = RepeatedBenchmark | PerCallBenchmark;

interface NamedBenchmark {
  /** Name with the folder under `src`, the topic and the function. The name must not change, because runs are compared by name. */
  readonly name: string;
  /** Short description of the work in one call. */
  readonly call: string;
}

/** Benchmark that tinybench repeats with many calls per sample. */
export interface RepeatedBenchmark extends NamedBenchmark {
  /** Prepares the input of the measured function. The preparation is not timed. */
  prepare(place: MicroBenchmarkContext): PreparedBenchmark | Promise<PreparedBenchmark>;
}

/** Benchmark that times each call separately to find the longest call. */
interface PerCallBenchmark extends NamedBenchmark {
  measure(place: MicroBenchmarkContext): Promise<CallTimes> | CallTimes;
}

/** Settings that every micro benchmark gets. */
export interface MicroBenchmarkContext {
  /** Existing folder on the measured disk. Each benchmark deletes the files that it creates in this folder. */
  readonly folder: string;
  /** Whether the run uses fewer repetitions than a full run. */
  readonly quick: boolean;
}

export interface PreparedBenchmark {
  /** Number of calls in one `run`. The number is large, because one call is shorter than the clock resolution. */
  readonly calls: number;
  /** Prepares a `run`. The preparation is not timed. */
  beforeEach?(): void;
  /** Returns a positive number that depends on every call, so that no call is optimized away. Throws if a call failed. */
  run(): number | Promise<number>;
  close?(): void | Promise<void>;
}

/** Defines a benchmark that calls a function for each item. Each call returns a positive number, or 0 if it failed. */
export function perItemBenchmark<Item>(
  name: string,
  call: string,
  prepare: (place: MicroBenchmarkContext) => ItemCalls<Item> | Promise<ItemCalls<Item>>,
): RepeatedBenchmark {
  return {
    name,
    call,
    prepare: async (place) => {
      const { items, run, close = () => {} } = await prepare(place);
      const runAll = () => {
        let total = 0;
        for (const item of items) {
          const result = run(item);
          if (result === 0) throw new Error(`${name} failed for an item`);
          total += result;
        }
        return total;
      };
      return { calls: items.length, run: runAll, close };
    },
  };
}

interface ItemCalls<Item> {
  readonly items: readonly Item[];
  readonly run: (item: Item) => number;
  readonly close?: () => void | Promise<void>;
}

/** Result of a benchmark in nanoseconds per call. */
interface CallTimes {
  readonly medianNs: number;
  readonly p99Ns: number;
  readonly worstNs: number;
}

export interface MicroBenchmarkResult {
  readonly name: string;
  readonly call?: string;
  /** Median over samples of many calls each, or over single calls if `worstNs` is present. */
  readonly medianNs: number;
  readonly p99Ns: number;
  /** Duration of the longest call; absent if calls were not timed separately. */
  readonly worstNs?: number;
}

/** Benchmark of the machine speed. The regression gate divides the times of all other benchmarks by the time of this one. */
export const calibrationName = 'calibration';

const calibrationEntries = 1_000;
const calibrationCalls = 1_000;

export const calibrationBenchmark: MicroBenchmark = {
  name: calibrationName,
  call: 'a fixed piece of work without anything of ours: a map, JSON, a hash',
  prepare: () => {
    const values = new Map(
      Array.from({ length: calibrationEntries }, (_, at) => [`entry-${at}`, { at, text: 'x'.repeat(40) }]),
    );
    const keys = [...values.keys()];
    return {
      calls: calibrationCalls,
      run: () => {
        let total = 0;
        for (let call = 0; call < calibrationCalls; call++) {
          const text = JSON.stringify(values.get(keys[(call * 7) % calibrationEntries]!));
          total += text.length + hash('sha256', text, 'buffer')[0]!;
        }
        return total;
      },
    };
  },
};
