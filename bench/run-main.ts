import { fileURLToPath } from 'node:url';
import { type BenchContext, type BenchScale, ProgressPrinter } from './bench-part.ts';
import type { LoadClient } from './load/load-clients.ts';
import { runOpenLoop } from './open-loop/run-open-loop.ts';

/** Folder of the result files, on the measured disk. */
export const resultsFolder = fileURLToPath(new URL('./results', import.meta.url));

/** Runs the main function of a benchmark program. Prints an error on one line and exits with `errorCode`. */
export async function runMain(name: string, main: () => Promise<void>, errorCode = 1): Promise<void> {
  // `process.exit` runs the exit handlers that stop servers and clients.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
  try {
    await main();
  } catch (error) {
    process.stderr.write(`\n${name}: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(errorCode);
  }
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
