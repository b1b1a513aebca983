/** Compares the speed of the current code with the stored baseline: `make bench-check`. Options: `--help`. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { bounds } from '../../src/bounds.ts';
import { parseBenchResult } from '../capacity/benchmark-result.ts';
import { readInputFile } from '../capacity/input-file.ts';
import { type LoadClient, parseClientName } from '../load/load-clients.ts';
import { describeCommit, describeMachine } from '../machine.ts';
import type { BenchResult } from '../result/bench-result.ts';
import { parseIntegerOption, resultsFolder, runBenchMain } from '../run-main.ts';
import {
  type BenchBaseline,
  busyMachineWarning,
  commandToStoreBaseline,
  compareWithBaseline,
  createBenchBaseline,
  differentMachineWarning,
  formatComparison,
  parseBaseline,
} from './baseline.ts';
import { computeResultRatios, groupRatiosByName, type ResultRatio } from './ratios.ts';

const defaultBaseline = fileURLToPath(new URL('../baseline.json', import.meta.url));
const exitCodeLoss = 1;
const exitCodeInconclusive = 2;

const comparedRuns = 3;
const storedRuns = 5;
const runsMax = 50;
/** Maximum useful `threshold` of a speed ratio. A speed ratio with a higher threshold is reported as too noisy. */
const usefulThresholdMax = 0.25;

const usage = `Usage: make bench-check, or bin/with-node node bench/check/main.ts [options]

Measures routes and single functions ${comparedRuns} times and compares their ratios (to the bare server and to a calibration) with
bench/baseline.json. Possible losses are measured again before they are reported.
Exit status: 0 without a loss, 1 with a loss, 2 if no comparison is possible.

  --store          store ${storedRuns} runs as the new baseline; use an idle machine
  --repeat N       number of runs, 1 to ${runsMax}
  --client NAME    wrk or autocannon; default: wrk if it is on PATH
  --baseline FILE  baseline file
  --from FILE      use a result file as a run instead of measuring; repeatable
  --help           print this help
`;

interface CheckOptions {
  readonly repeat: number;
  readonly baseline: string;
  /** Paths of stored results to compare with the baseline. If `from` is empty, the current code is measured. */
  readonly from: readonly string[];
  readonly client: LoadClient['name'] | undefined;
}

await runBenchMain('bench-check', check, exitCodeInconclusive);

async function check(): Promise<void> {
  const { values } = parseArgs({
    options: {
      store: { type: 'boolean', default: false },
      repeat: { type: 'string' },
      baseline: { type: 'string', default: defaultBaseline },
      from: { type: 'string', multiple: true, default: [] },
      client: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    process.stdout.write(usage);
    return;
  }
  const defaultRuns = values.store ? storedRuns : comparedRuns;
  const repeat = parseIntegerOption('--repeat', values.repeat ?? String(defaultRuns), 1, runsMax);
  const options = { ...values, repeat, client: parseClientName(values.client) };
  await (values.store ? storeBaseline(options) : checkAgainstBaseline(options));
}

async function checkAgainstBaseline(options: CheckOptions): Promise<void> {
  const baseline = await loadBaseline(options.baseline);
  await mkdir(resultsFolder, { recursive: true });
  const machine = describeMachine(resultsFolder);
  printWarning(differentMachineWarning(baseline.machine, machine));
  printWarning(options.from.length === 0 ? busyMachineWarning(machine) : null);
  const runs = await collectRuns(options);
  let comparison = compareWithBaseline(baseline.figures, groupRatiosByName(runs));
  if (comparison.losses.length > 0 && options.from.length === 0) {
    const suspects = new Set(comparison.losses.map(({ part }) => part));
    process.stderr.write(`Possible loss in ${[...suspects].join(', ')}: measuring again.\n`);
    runs.push(...(await collectRuns(options, suspects)));
    comparison = compareWithBaseline(baseline.figures, groupRatiosByName(runs));
  }
  if (comparison.losses.length + comparison.gains.length + comparison.unchanged === 0)
    throw new Error(`the baseline has none of the measured ratios; store a new one: ${commandToStoreBaseline}`);
  process.stdout.write(`${formatComparison(baseline, comparison).join('\n')}\n`);
  if (comparison.losses.length > 0) process.exitCode = exitCodeLoss;
}

async function storeBaseline(options: CheckOptions): Promise<void> {
  await mkdir(resultsFolder, { recursive: true });
  const machine = describeMachine(resultsFolder);
  printWarning(busyMachineWarning(machine));
  const runs = await collectRuns(options);
  const storedAt = new Date().toISOString();
  const conditions = { storedAt, commit: describeCommit(), machine, runs: runs.length };
  const baseline = createBenchBaseline(groupRatiosByName(runs), conditions);
  await writeFile(options.baseline, `${JSON.stringify(baseline, null, 2)}\n`);
  const lines = baseline.figures.map(
    ({ name, median, threshold }) => `${name}: ${median}, a loss from ${(100 * threshold).toFixed(1)} %`,
  );
  process.stdout.write(
    `${lines.join('\n')}\n${lines.length} figures of ${runs.length} runs stored in ${options.baseline}\n`,
  );
  const noisy = baseline.figures.filter(({ threshold }) => threshold > usefulThresholdMax).length;
  printWarning(
    noisy === 0
      ? null
      : `${noisy} OF ${lines.length} RATIOS ARE TOO NOISY to detect a loss of 25 %; store the baseline again on an idle machine.`,
  );
}

/** Returns the speed ratios of each benchmark run. If `only` is given, measures only the benchmark parts with these names. */
async function collectRuns(
  { from, repeat, client }: CheckOptions,
  only?: ReadonlySet<string>,
): Promise<ResultRatio[][]> {
  if (from.length > 0) {
    return from.map((file) => {
      const result = readInputFile(file, bounds.benchResultFileBytesMax, parseBenchResult);
      return computeResultRatios(result as unknown as BenchResult);
    });
  }
  // The module `measure-ratios.ts` is imported only for a measurement, because it imports the service.
  const { measureSpeedRatios: measureRatios } = await import('./measure-ratios.ts');
  return measureRatios(repeat, client, only);
}

async function loadBaseline(file: string): Promise<BenchBaseline> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch {
    throw new Error(`no baseline; store one on an idle machine: ${commandToStoreBaseline}`);
  }
  return parseBaseline(text);
}

function printWarning(text: string | null): void {
  if (text !== null) process.stderr.write(`${text}\n`);
}
