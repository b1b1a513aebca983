/** Carries out one `CheckRequest` (JSON, the only argument) and prints the `CheckMeasurements`: `marketplace capacity --check` runs it. */
import { mkdir } from 'node:fs/promises';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import type { CheckRequest } from '../../src/capacity/check.ts';
import { generateCatalog } from '../../test/support/random-catalog.ts';
import { Progress } from '../bench-part.ts';
import { runOpenLoop } from '../open-loop/run-open-loop.ts';
import { runCapacityCheck } from './run-capacity-check.ts';

/** Beside the results: on the disk that was measured. */
const folder = fileURLToPath(new URL('../results', import.meta.url));
const catalogSeed = 200;

/** A check that was interrupted ends like one that failed: `process.exit` takes the server and the client along. */
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
// Whoever asked for it has gone. The channel itself keeps nothing alive.
process.once('disconnect', () => process.exit(130));
process.channel?.unref();

try {
  const [text] = process.argv.slice(2);
  if (text === undefined) throw new Error('it is run by marketplace capacity --check');
  await mkdir(folder, { recursive: true });
  const findings = await runCapacityCheck(JSON.parse(text) as CheckRequest, {
    sendOpenLoop: runOpenLoop,
    folder,
    progress: new Progress(),
    catalog: (offers) => JSON.stringify(generateCatalog(catalogSeed, offers)),
  });
  process.stdout.write(JSON.stringify(findings));
} catch (error) {
  process.stderr.write(`\ncapacity-check: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}
