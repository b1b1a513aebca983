import type { LoadClient } from './load/load-client.ts';
import type { OpenLoopRunner } from './open-loop/open-loop-plan.ts';
import type { BenchResult } from './result/bench-result.ts';

/** How large a run is. */
export interface BenchScale {
  /** Measured rounds; one more, not counted, warms the servers up. */
  readonly rounds: number;
  /** Length of one load. */
  readonly seconds: number;
  readonly connections: number;
  /** Requests of a round whose requests are sent once only. */
  readonly roundRequests: number;
  /** API keys the requests are spread over, each with its default limits. */
  readonly keys: number;
  /** Sessions of the history that is read back and counted (`history/`). */
  readonly historySessions: number;
  /** The most live sessions a curve goes to. */
  readonly liveSessions: number;
}

export const fullScale: BenchScale = {
  rounds: 5,
  seconds: 2,
  connections: 64,
  roundRequests: 20_000,
  keys: 12_000,
  historySessions: 1_000_000,
  liveSessions: 1_000_000,
};

/** Ends within two minutes. */
export const quickScale: BenchScale = {
  rounds: 1,
  seconds: 0.3,
  connections: 64,
  roundRequests: 3_000,
  keys: 2_000,
  historySessions: 10_000,
  liveSessions: 10_000,
};

/** Says on stderr what is being done: one line that is rewritten on a terminal, one line a step elsewhere. */
export class Progress {
  readonly #stream: NodeJS.WriteStream;

  constructor(stream: NodeJS.WriteStream = process.stderr) {
    this.#stream = stream;
  }

  step(text: string): void {
    this.#stream.write(this.#stream.isTTY ? `\r\x1b[K${text}` : `${text}\n`);
  }

  /** Ends the rewriting with a line that stays. */
  done(text: string): void {
    this.#stream.write(this.#stream.isTTY ? `\r\x1b[K${text}\n` : `${text}\n`);
  }
}

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
