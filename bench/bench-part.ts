import type { LoadClient } from './load/load-clients.ts';
import type { OpenLoopRunner } from './open-loop/open-loop-plan.ts';
import type { BenchResult } from './result/bench-result.ts';

/** Size of a benchmark run. */
export interface BenchScale {
  /** Number of measured rounds. An additional first round warms up the servers. */
  readonly rounds: number;
  /** Duration of one load. */
  readonly seconds: number;
  readonly connections: number;
  /** Number of requests per round in scenarios that send each request once. */
  readonly roundRequests: number;
  /** Number of API keys with default limits. The requests use the API keys in turn. */
  readonly keys: number;
  /** Maximum number of sessions in a curve, in a micro benchmark and in the measured ledger. */
  readonly sessionsMax: number;
}

export const fullBenchScale: BenchScale = {
  rounds: 5,
  seconds: 2,
  connections: 64,
  roundRequests: 20_000,
  keys: 12_000,
  sessionsMax: 1_000_000,
};

/** Size of a quick benchmark run, which takes less than two minutes. */
export const quickBenchScale: BenchScale = {
  rounds: 1,
  seconds: 0.3,
  connections: 64,
  roundRequests: 3_000,
  keys: 2_000,
  sessionsMax: 10_000,
};

/** Prints progress messages on stderr. On a terminal, each message overwrites the previous message. */
export class ProgressPrinter {
  printProgress(text: string): void {
    process.stderr.write(process.stderr.isTTY ? `\r\x1b[K${text}` : `${text}\n`);
  }

  /** Prints a line that later progress messages do not overwrite. */
  printLine(text: string): void {
    process.stderr.write(process.stderr.isTTY ? `\r\x1b[K${text}\n` : `${text}\n`);
  }
}

/** Resources and settings that a part of the benchmarks gets. */
export interface BenchContext {
  readonly scale: BenchScale;
  readonly quick: boolean;
  readonly client: LoadClient;
  /** Second load client, which repeats the route measurements in fewer rounds; undefined if there is only one client. */
  readonly crossCheck?: LoadClient | undefined;
  /** Sends an open-loop load. */
  readonly sendOpenLoop: OpenLoopRunner;
  /** Folder on the measured disk, in which the benchmarks create their data folders. Each benchmark deletes its data folders. */
  readonly folder: string;
  readonly progress: ProgressPrinter;
}

/** Part of the benchmarks, such as `micro`, whose results become part of the `BenchResult`. */
export interface BenchPart {
  /** Name of the benchmark part for the option `--only`. */
  readonly name: string;
  /** Name of the group that contains the part, for the option `--only`. */
  readonly group?: string;
  /** Short description for `--help`. */
  readonly description: string;
  measure(context: BenchContext): Promise<Partial<BenchResult>>;
}
