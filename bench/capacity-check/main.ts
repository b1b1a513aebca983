/**
 * Runs one `CapacityCheckRequest` (JSON, the only argument) and prints its `CapacityCheckMeasurements`. `marketplace capacity --check` starts this program.
 */
import { mkdir } from 'node:fs/promises';
import process from 'node:process';
import { ProgressPrinter } from '../bench-part.ts';
import type { CapacityCheckRequest } from '../capacity/check.ts';
import { runOpenLoop } from '../open-loop/run-open-loop.ts';
import { resultsFolder, runBenchMain } from '../run-main.ts';
import { runCapacityCheck } from './run-capacity-check.ts';

// The parent process has exited. The IPC channel does not keep this process alive.
process.once('disconnect', () => process.exit(130));
process.channel?.unref();

await runBenchMain('capacity-check', async () => {
  const [text] = process.argv.slice(2);
  if (text === undefined) throw new Error('start this program with: marketplace capacity --check');
  await mkdir(resultsFolder, { recursive: true });
  const context = { sendOpenLoop: runOpenLoop, folder: resultsFolder, progress: new ProgressPrinter() };
  process.stdout.write(JSON.stringify(await runCapacityCheck(JSON.parse(text) as CapacityCheckRequest, context)));
});
