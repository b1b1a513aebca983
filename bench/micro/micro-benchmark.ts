import { hash } from 'node:crypto';

/** One hot function, timed alone. Lies under `bench/micro` where the function lies under `src`. */
export type MicroBenchmark = RepeatedBenchmark | SteppedBenchmark;

interface NamedBenchmark {
  /** The file under `src`, and what of it: what a result is compared by from run to run, so it stays as it is. */
  readonly name: string;
  /** What one call is, in a few words: the figures are of one. */
  readonly call: string;
}

/** Run again and again by tinybench, many calls a sample. */
export interface RepeatedBenchmark extends NamedBenchmark {
  /** Makes what the function needs; not timed. */
  prepare(place: MicroEnvironment): PreparedBenchmark | Promise<PreparedBenchmark>;
}

/** Times each call by itself, since the longest of them is what it is about. */
interface SteppedBenchmark extends NamedBenchmark {
  measure(place: MicroEnvironment): Promise<CallTimes> | CallTimes;
}

/** Where micros are run. */
export interface MicroEnvironment {
  /** An existing folder on the disk to be measured; what is put there is removed. */
  readonly folder: string;
  /** Whether the run is short: what is repeated for its own sake is done once. */
  readonly quick: boolean;
}

export interface PreparedBenchmark {
  /** How many calls of the function one `run` makes: many, since one call is shorter than a look at the clock. */
  readonly calls: number;
  /** Called ahead of each `run`, and not timed: makes what a run uses up. */
  beforeEach?(): void;
  /**
   * The number it gives is above 0 and depends on every call, so that none can be optimised away. It throws where a call did
   * not do what it is timed for.
   */
  run(): number | Promise<number>;
  close?(): void | Promise<void>;
}

/** Nanoseconds of one call. */
interface CallTimes {
  readonly medianNs: number;
  readonly p99Ns: number;
  readonly worstNs: number;
}

export interface MicroResult {
  readonly name: string;
  readonly call?: string;
  /** Of one call; over samples of many calls each, or over single calls where `worstNs` is there. */
  readonly medianNs: number;
  readonly p99Ns: number;
  /** The longest single call that was seen; absent where calls were not timed one by one. */
  readonly worstNs?: number;
}

/** What the regression gate divides the others by: it has nothing of ours in it, so it tells how fast the machine is. */
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
