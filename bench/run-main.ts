import { fileURLToPath } from 'node:url';
import { type BenchContext, type BenchScale, ProgressPrinter } from './bench-part.ts';
import type { LoadClient } from './load/load-clients.ts';
import { runOpenLoop } from './open-loop/run-open-loop.ts';

/** Folder of the result files, on the measured disk. */
export const resultsFolder = fileURLToPath(new URL('./results', import.meta.url));

/** Runs the main function of a program. Prints an error on one line and exits with `errorCode`. */
export async function runBenchMain(name: string, main: () => Promise<void>, errorCode = 1): Promise<void> {
  // `process.exit` runs the exit handlers that stop servers and clients.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
  try {
    await main();
  } catch (error) {
    // On a terminal, the message replaces the line of the current step.
    const clearLine = process.stderr.isTTY ? '\r\x1b[K' : '';
    process.stderr.write(`${clearLine}${name}: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(errorCode);
  }
}

/** Parses the value of an option that is an integer in a range. */
export function parseIntegerOption(option: string, text: string, min: number, max: number): number {
  const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return value;
  throw new Error(`${option} must be an integer from ${min} to ${max}`);
}

/** Returns the context of a benchmark run, with the load clients of `chooseLoadClients`. */
export function createBenchContext(
  scale: BenchScale,
  quick: boolean,
  client: LoadClient,
  crossCheck?: LoadClient,
): BenchContext {
  return {
    scale,
    quick,
    client,
    crossCheck,
    sendOpenLoop: runOpenLoop,
    folder: resultsFolder,
    progress: new ProgressPrinter(),
  };
}
