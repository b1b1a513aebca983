/** Whether anything got slower: `make bench-check`. Options: `--help`. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { describeCommit } from '../commit.ts';
import { describeMachine } from '../machine.ts';
import { readResult } from '../report/read-result.ts';
import { type Baseline, makeBaseline, readBaseline, tooNoisy } from './baseline.ts';
import { compare, isEmpty } from './compare.ts';
import { besideOneAnother, type Figure } from './figure.ts';
import { figuresOf } from './figures-of.ts';
import { type CheckOptions, parseCheckOptions, usage } from './options.ts';
import { busyMachine, otherMachine, storeCommand, verdict } from './verdict.ts';

const benchFolder = fileURLToPath(new URL('..', import.meta.url));
const resultsFolder = fileURLToPath(new URL('../results', import.meta.url));
const defaultBaseline = fileURLToPath(new URL('../baseline.json', import.meta.url));
const lossFound = 1;
const cannotTell = 2;

/** A run that was interrupted ends like one that failed: `process.exit` takes the servers and clients along. */
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));

try {
  const options = parseCheckOptions(process.argv.slice(2), defaultBaseline);
  if (options.help) process.stdout.write(usage);
  else if (options.store) await store(options);
  else await check(options);
} catch (error) {
  process.stderr.write(`\nbench-check: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(cannotTell);
}

async function check(options: CheckOptions): Promise<void> {
  const baseline = await existingBaseline(options.baseline);
  await mkdir(resultsFolder, { recursive: true });
  const machine = describeMachine(resultsFolder);
  warn(otherMachine(baseline.machine, machine));
  warn(options.from.length === 0 ? busyMachine(machine) : null);
  const runs = await takeRuns(options);
  let comparison = compare(baseline.figures, besideOneAnother(runs));
  if (comparison.losses.length > 0 && options.from.length === 0) {
    const suspects = new Set(comparison.losses.map(({ part }) => part));
    process.stderr.write(`Something seems lost in ${[...suspects].join(', ')}: measuring that again.\n`);
    runs.push(...(await takeRuns(options, suspects)));
    comparison = compare(baseline.figures, besideOneAnother(runs));
  }
  if (isEmpty(comparison))
    throw new Error(`nothing that was measured is in the baseline. Store a new one: ${storeCommand}`);
  process.stdout.write(`${verdict(baseline, comparison).join('\n')}\n`);
  if (comparison.losses.length > 0) process.exitCode = lossFound;
}

async function store(options: CheckOptions): Promise<void> {
  await mkdir(resultsFolder, { recursive: true });
  const machine = describeMachine(resultsFolder);
  warn(busyMachine(machine));
  const runs = await takeRuns(options);
  const conditions = {
    storedAt: new Date().toISOString(),
    commit: describeCommit(benchFolder),
    machine,
    runs: runs.length,
  };
  const baseline = makeBaseline(besideOneAnother(runs), conditions);
  await writeFile(options.baseline, `${JSON.stringify(baseline, null, 2)}\n`);
  const lines = baseline.figures.map(
    ({ name, median, threshold }) => `${name}: ${median}, a loss from ${(100 * threshold).toFixed(1)} %`,
  );
  process.stdout.write(
    `${lines.join('\n')}\n${lines.length} figures of ${runs.length} runs stored in ${options.baseline}\n`,
  );
  const noisy = tooNoisy(baseline).length;
  warn(
    noisy === 0
      ? null
      : `${noisy} OF ${lines.length} FIGURES ARE TOO NOISY to tell a loss of a quarter from noise: store them again on a quieter machine.`,
  );
}

/** The figures of each run: of the parts named, or of all of them. */
async function takeRuns({ from, repeat, client }: CheckOptions, only?: ReadonlySet<string>): Promise<Figure[][]> {
  if (from.length > 0) {
    return Promise.all(from.map(async (file) => figuresOf(readResult(await readFile(file, 'utf8')))));
  }
  // Everything that measures, the service with it, is loaded only where something is measured.
  const { measureFigures } = await import('./measure-figures.ts');
  return measureFigures({ repeat, client, folder: resultsFolder, only });
}

async function existingBaseline(file: string): Promise<Baseline> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch {
    throw new Error(`there is no baseline yet. Store one, on a quiet machine: ${storeCommand}`);
  }
  return readBaseline(text);
}

function warn(text: string | null): void {
  if (text !== null) process.stderr.write(`${text}\n`);
}
