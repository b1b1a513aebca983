import type { LoadClient } from './load/load-client.ts';
import type { OpenLoopRunner } from './open-loop/open-loop-plan.ts';
import type { BenchResult } from './result/bench-result.ts';

/** Size of a benchmark run. */
export interface BenchScale {
  /** Measured rounds. One more round warms the servers up. */
  readonly rounds: number;
  /** Duration of one load. */
  readonly seconds: number;
  readonly connections: number;
  /** Requests per round of scenarios that send each request once. */
  readonly roundRequests: number;
  /** API keys with default limits that share the requests. */
  readonly keys: number;
  /** Sessions of the ledger that `history/` reads and counts. */
  readonly historySessions: number;
  /** Maximum number of live sessions of a curve. */
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

/** Takes less than two minutes. */
export const quickScale: BenchScale = {
  rounds: 1,
  seconds: 0.3,
  connections: 64,
  roundRequests: 3_000,
  keys: 2_000,
  historySessions: 10_000,
  liveSessions: 10_000,
};

/** Prints the current step on stderr: one line that is overwritten on a terminal, else one line per step. */
export class Progress {
  readonly #stream: NodeJS.WriteStream;

  constructor(stream: NodeJS.WriteStream = process.stderr) {
    this.#stream = stream;
  }

  step(text: string): void {
    this.#stream.write(this.#stream.isTTY ? `\r\x1b[K${text}` : `${text}\n`);
  }

  /** Prints a line that is not overwritten. */
  done(text: string): void {
    this.#stream.write(this.#stream.isTTY ? `\r\x1b[K${text}\n` : `${text}\n`);
  }
}

/** Resources of a part of the benchmarks. */
export interface BenchContext {
  readonly scale: BenchScale;
  readonly quick: boolean;
  readonly client: LoadClient;
  /** Second client that repeats the route measurements in fewer rounds; undefined without one. */
  readonly crossCheck?: LoadClient | undefined;
  /** Sends the open-loop load of a curve. */
  readonly sendOpenLoop: OpenLoopRunner;
  /** Folder on the measured disk. Data folders are created in it and deleted. */
  readonly folder: string;
  readonly progress: Progress;
  /** Returns the text of a generated catalog with this number of offers. */
  readonly generateCatalogText: (offers: number) => string;
}

/** A part of the benchmarks. Its results are its own members of the result; lists are appended to those of earlier parts. */
export interface BenchPart {
  /** Name for `--only`. */
  readonly name: string;
  /** Name of a group of parts for `--only`. */
  readonly group?: string;
  /** Short description for `--help`. */
  readonly description: string;
  measure(context: BenchContext): Promise<Partial<BenchResult>>;
  /** Returns sentences about wrong results. The result is written, and the run fails. */
  findProblems?(found: Partial<BenchResult>): readonly string[];
}
