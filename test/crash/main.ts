/** The long crash test, `make crash-test`. Kills the server `--cycles` times. `--seed` determines the requests and the kills. */
import process from 'node:process';
import { parseArgs } from 'node:util';
import { ProgressPrinter } from '../../bench/bench-part.ts';
import { anySeed, runCrashes, seedMax } from './crash-run.ts';

// `process.exit` also ends the server and deletes its folder.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));

try {
  // Sessions expire after four hours, and the run must end before.
  const options = { cycles: { type: 'string', default: '200' }, seed: { type: 'string' } } as const;
  const { values } = parseArgs({ options });
  await run(wholeNumber('--cycles', values.cycles), wholeNumber('--seed', values.seed ?? String(anySeed())));
} catch (error) {
  process.stderr.write(`\ncrash-test: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}

async function run(cycles: number, seed: number): Promise<void> {
  const progress = new ProgressPrinter();
  progress.printLine(`seed ${seed}`);
  const tally = await runCrashes({ cycles, seed, onProgress: (text) => progress.printProgress(text) });
  progress.printLine(`${cycles} cycles, and nothing was lost, doubled or invented`);
  process.stdout.write(`${tally}\n`);
}

function wholeNumber(option: string, text: string): number {
  const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
  if (value <= seedMax) return value;
  throw new Error(`${option} takes a whole number up to ${seedMax}`);
}
