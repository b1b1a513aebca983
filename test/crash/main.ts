/** The long crash test: `make crash-test`. Options: `--help`. */
import process from 'node:process';
import { parseArgs } from 'node:util';
import { ProgressPrinter } from '../../bench/bench-part.ts';
import { anySeed, runCrashes, seedMax } from './crash-run.ts';

const usage = `Usage: make crash-test [CYCLES=n] [SEED=n], or bin/with-node node test/crash/main.ts [options]

  --cycles N   how often the server is killed (default 200); sessions live for four hours, and the
               run must end before the first of them does
  --seed N     what decides the load and the moments of the kills; a random one by default
  --help       this text
`;

/** A run that was interrupted ends like one that failed: `process.exit` takes the server and its folder along. */
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));

try {
  const { values } = parseArgs({
    options: {
      cycles: { type: 'string', default: '200' },
      seed: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) process.stdout.write(usage);
  else await run(wholeNumber('--cycles', values.cycles), wholeNumber('--seed', values.seed ?? String(anySeed())));
} catch (error) {
  process.stderr.write(`\ncrash-test: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}

async function run(cycles: number, seed: number): Promise<void> {
  const progress = new ProgressPrinter();
  progress.printLine(`seed ${seed}`);
  const tally = await runCrashes({ cycles, seed, onProgress: (text) => progress.showStep(text) });
  progress.printLine(`${cycles} cycles, and nothing was lost, doubled or invented`);
  process.stdout.write(`${tally}\n`);
}

function wholeNumber(option: string, text: string): number {
  const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
  if (value <= seedMax) return value;
  throw new Error(`${option} takes a whole number up to ${seedMax}`);
}
