import type { LoadClient } from './load/load-client.ts';
import type { OpenLoopRunner } from './open-loop/open-loop-plan.ts';
import type { Progress } from './progress.ts';
import type { BenchResult } from './result/bench-result.ts';
import type { BenchScale } from './scale.ts';

/** What a part of the benchmarks has at hand. */
export interface BenchContext {
  readonly scale: BenchScale;
  readonly quick: boolean;
  readonly client: LoadClient;
  /** A second client that routes are measured with once more, in fewer rounds; undefined where there is none. */
  readonly crossCheck?: LoadClient | undefined;
  /** Sends the loads of the curves. */
  readonly sendOpenLoop: OpenLoopRunner;
  /** On the disk to be measured; data folders are made in it and removed. */
  readonly folder: string;
  readonly progress: Progress;
  /** The text of a generated catalog of so many offers. */
  readonly catalog: (offers: number) => string;
}

/**
 * One part of the benchmarks: what it measures comes into the result under its own members, and no others. Lists are put
 * behind what parts before it gave.
 */
export interface BenchPart {
  /** What `--only` takes. */
  readonly name: string;
  /** What `--only` takes for it and others of its kind together. */
  readonly group?: string;
  /** In a few words, for the help. */
  readonly description: string;
  measure(context: BenchContext): Promise<Partial<BenchResult>>;
  /** What it found that must not be, each in a sentence: the result is written all the same, and the run then fails. */
  findProblems?(found: Partial<BenchResult>): readonly string[];
}
