/** Runs one `CheckRequest` (JSON, the only argument) and prints its `CheckMeasurements`. Started by `marketplace capacity --check`. */
import { mkdir } from 'node:fs/promises';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import type { CheckRequest } from '../../src/capacity/plan.ts';
import { generateCatalog } from '../../test/support/random-catalog.ts';
import { Progress } from '../bench-part.ts';
import { runOpenLoop } from '../open-loop/run-open-loop.ts';
import { runCapacityCheck } from './run-capacity-check.ts';

/** Folder for data, on the same disk as in the benchmark results. */
const folder = fileURLToPath(new URL('../results', import.meta.url));
const catalogSeed = 200;

/** `process.exit` runs the exit handlers that stop the server and the client. */
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
// The parent process has exited. The IPC channel does not keep this process alive.
process.once('disconnect', () => process.exit(130));
process.channel?.unref();

try {
  const [text] = process.argv.slice(2);
  if (text === undefined) throw new Error('this program is started by marketplace capacity --check');
  await mkdir(folder, { recursive: true });
  const findings = await runCapacityCheck(JSON.parse(text) as CheckRequest, {
    sendOpenLoop: runOpenLoop,
    folder,
    progress: new Progress(),
    generateCatalogText: (offers) => JSON.stringify(generateCatalog(catalogSeed, offers)),
  });
  process.stdout.write(JSON.stringify(findings));
} catch (error) {
  process.stderr.write(`\ncapacity-check: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}
