/** Benchmark of a single function. The folder `bench/micro` has one file for each measured folder of `src`. */
export interface MicroBenchmark {
  /**
   * Module path in `src` and a description of one call, such as `ids/sub-id: verify a session ID`. `make bench-check` compares results of two
   * versions by name, so a renamed benchmark is not compared with versions before.
   */
  readonly name: string;
  /** Prepares the input of the measured function. The time of `prepare` is not measured. */
  prepare(context: MicroBenchmarkContext): PreparedBenchmark | Promise<PreparedBenchmark>;
}

/** Settings that every micro benchmark gets. */
export interface MicroBenchmarkContext {
  /** Existing folder on the disk that the benchmarks measure. A benchmark that creates files in `folder` deletes these files. */
  readonly folder: string;
  /** Whether the run uses fewer repetitions than a full run. */
  readonly quick: boolean;
}

export interface PreparedBenchmark {
  /** Number of function calls in one call of `run`, large enough that the clock can measure the duration of `run`. */
  readonly calls: number;
  /** Prepares a call of `run`. The time of `beforeEach` is not measured. */
  beforeEach?(): void;
  /** Returns a positive number that depends on every call, so that no call is optimized away. Throws if a call failed. */
  run(): number | Promise<number>;
  close?(): void | Promise<void>;
}

/** Defines a benchmark that calls a function for each prepared item. Each call returns a positive number, or 0 after a failure. */
export function createPerItemBenchmark<Item>(
  name: string,
  prepare: (context: MicroBenchmarkContext) => ItemCalls<Item> | Promise<ItemCalls<Item>>,
): MicroBenchmark {
  return {
    name,
    prepare: async (context) => {
      const { items, run, close = () => {} } = await prepare(context);
      const runAll = () => {
        let total = 0;
        for (const item of items) {
          const result = run(item);
          if (result === 0) throw new Error(`${name} returned 0 for an item, which means that it failed`);
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

export interface MicroBenchmarkResult {
  readonly name: string;
  /** Time per call in nanoseconds. Each sample is the mean of many calls. */
  readonly medianNs: number;
  readonly p99Ns: number;
}
