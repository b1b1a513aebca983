/** Compares the speed with the stored baseline: `make bench-check`. Options: `--help`. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { describeCommit, describeMachine } from '../machine.ts';
import { parseResult } from '../result/result-file.ts';
import {
  type Baseline,
  busyMachineWarning,
  compareWithBaseline,
  createBaseline,
  differentMachineWarning,
  findNoisyRatios,
  formatVerdict,
  hasNoCommonRatio,
  parseBaseline,
  storeCommand,
} from './baseline.ts';
import { type CheckOptions, parseCheckOptions, usage } from './options.ts';
import { type CheckedRatio, groupRuns, ratiosOfResult } from './ratios.ts';

const benchFolder = fileURLToPath(new URL('..', import.meta.url));
const resultsFolder = fileURLToPath(new URL('../results', import.meta.url));
const defaultBaseline = fileURLToPath(new URL('../baseline.json', import.meta.url));
const exitCodeLoss = 1;
const exitCodeInconclusive = 2;

/** `process.exit` runs the exit handlers that stop servers and clients. */
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));

try {
  const options = parseCheckOptions(process.argv.slice(2), defaultBaseline);
  if (options.help) process.stdout.write(usage);
  else if (options.store) await storeBaseline(options);
  else await checkAgainstBaseline(options);
} catch (error) {
  process.stderr.write(`\nbench-check: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(exitCodeInconclusive);
}

async function checkAgainstBaseline(options: CheckOptions): Promise<void> {
  const baseline = await loadBaseline(options.baseline);
  await mkdir(resultsFolder, { recursive: true });
  const machine = describeMachine(resultsFolder);
  warn(differentMachineWarning(baseline.machine, machine));
  warn(options.from.length === 0 ? busyMachineWarning(machine) : null);
  const runs = await collectRuns(options);
  let comparison = compareWithBaseline(baseline.figures, groupRuns(runs));
  if (comparison.losses.length > 0 && options.from.length === 0) {
    const suspects = new Set(comparison.losses.map(({ part }) => part));
    process.stderr.write(`Possible loss in ${[...suspects].join(', ')}: measuring again.\n`);
    runs.push(...(await collectRuns(options, suspects)));
    comparison = compareWithBaseline(baseline.figures, groupRuns(runs));
  }
  if (hasNoCommonRatio(comparison))
    throw new Error(`the baseline has none of the measured ratios; store a new one: ${storeCommand}`);
  process.stdout.write(`${formatVerdict(baseline, comparison).join('\n')}\n`);
  if (comparison.losses.length > 0) process.exitCode = exitCodeLoss;
}

async function storeBaseline(options: CheckOptions): Promise<void> {
  await mkdir(resultsFolder, { recursive: true });
  const machine = describeMachine(resultsFolder);
  warn(busyMachineWarning(machine));
  const runs = await collectRuns(options);
  const conditions = {
    storedAt: new Date().toISOString(),
    commit: describeCommit(benchFolder),
    machine,
    runs: runs.length,
  };
  const baseline = createBaseline(groupRuns(runs), conditions);
  await writeFile(options.baseline, `${JSON.stringify(baseline, null, 2)}\n`);
  const lines = baseline.figures.map(
    ({ name, median, threshold }) => `${name}: ${median}, a loss from ${(100 * threshold).toFixed(1)} %`,
  );
  process.stdout.write(
    `${lines.join('\n')}\n${lines.length} figures of ${runs.length} runs stored in ${options.baseline}\n`,
  );
  const noisy = findNoisyRatios(baseline).length;
  warn(
    noisy === 0
      ? null
      : `${noisy} OF ${lines.length} FIGURES ARE TOO NOISY to tell a loss of a quarter from noise: store them again on a quieter machine.`,
  );
}

/** Returns the ratios of each run for the named parts, or for all parts. */
async function collectRuns(
  { from, repeat, client }: CheckOptions,
  only?: ReadonlySet<string>,
): Promise<CheckedRatio[][]> {
  if (from.length > 0) {
    return Promise.all(from.map(async (file) => ratiosOfResult(parseResult(await readFile(file, 'utf8')))));
  }
  // This module is imported only for a measurement, because it imports the service.
  const { measureRatios } = await import('./measure-ratios.ts');
  return measureRatios({ repeat, client, folder: resultsFolder, only });
}

async function loadBaseline(file: string): Promise<Baseline> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch {
    throw new Error(`no baseline; store one on an idle machine: ${storeCommand}`);
  }
  return parseBaseline(text);
}

function warn(text: string | null): void {
  if (text !== null) process.stderr.write(`${text}\n`);
}
