import { hash } from 'node:crypto';

/** A benchmark of one function. The files of `bench/micro` mirror `src`. */
export type MicroBenchmark = RepeatedBenchmark | SteppedBenchmark;

interface NamedBenchmark {
  /** File under `src` and the function. Stable, because runs are compared by name. */
  readonly name: string;
  /** Short description of one call. */
  readonly call: string;
}

/** Repeated by tinybench with many calls per sample. */
export interface RepeatedBenchmark extends NamedBenchmark {
  /** Prepares the input of the function; not timed. */
  prepare(place: MicroEnvironment): PreparedBenchmark | Promise<PreparedBenchmark>;
}

/** Times each call separately, to find the longest. */
interface SteppedBenchmark extends NamedBenchmark {
  measure(place: MicroEnvironment): Promise<CallTimes> | CallTimes;
}

/** Environment of the micro benchmarks. */
export interface MicroEnvironment {
  /** Existing folder on the measured disk; its new content is deleted. */
  readonly folder: string;
  /** Runs fewer repetitions. */
  readonly quick: boolean;
}

export interface PreparedBenchmark {
  /** Calls in one `run`: many, because one call is shorter than the clock resolution. */
  readonly calls: number;
  /** Called before each `run` and not timed. */
  beforeEach?(): void;
  /** Returns a positive number that depends on every call, so that no call is optimized away. Throws if a call failed. */
  run(): number | Promise<number>;
  close?(): void | Promise<void>;
}

/** Nanoseconds per call. */
interface CallTimes {
  readonly medianNs: number;
  readonly p99Ns: number;
  readonly worstNs: number;
}

export interface MicroResult {
  readonly name: string;
  readonly call?: string;
  /** Median over samples of many calls, or over single calls if `worstNs` is present. */
  readonly medianNs: number;
  readonly p99Ns: number;
  /** Longest single call; absent if calls were not timed separately. */
  readonly worstNs?: number;
}

/** Benchmark of the machine by which the regression gate divides all others. */
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
