/** Measures the figures of bench/README.md: `make bench`. Options: `--help`. */
import { fileURLToPath } from 'node:url';
import { generateCatalog } from '../test/support/random-catalog.ts';
import type { BenchContext } from './bench-part.ts';
import { fullScale, Progress, quickScale } from './bench-part.ts';
import { chooseLoadClients } from './load/load-clients.ts';
import { describeCommit, describeMachine } from './machine.ts';
import { runOpenLoop } from './open-loop/run-open-loop.ts';
import { type BenchOptions, parseBenchOptions, usage } from './options.ts';
import { benchParts, partNames, selectParts } from './parts.ts';
import { publishReferenceResult, publishToReadme, writeReport } from './report/write-report.ts';
import { type BenchResult, benchResultFormat, mergeFindings } from './result/bench-result.ts';
import { ResultFile } from './result/result-file.ts';

const benchFolder = fileURLToPath(new URL('.//', import.meta.url));
const resultsFolder = fileURLToPath(new URL('./results', import.meta.url));
const referenceResult = fileURLToPath(new URL('../src/capacity/reference-result.json', import.meta.url));
const readme = fileURLToPath(new URL('./README.md', import.meta.url));
const catalogSeed = 200;

/** `process.exit` runs the exit handlers that stop servers and clients. */
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));

try {
  const options = parseBenchOptions(process.argv.slice(2), partNames(benchParts));
  if (options.help) process.stdout.write(usage(benchParts));
  else await run(options);
} catch (error) {
  process.stderr.write(`\nbench: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}

async function run(options: BenchOptions): Promise<void> {
  const startedAt = new Date().toISOString();
  const { client, crossCheck } = await chooseLoadClients(options.client, process.env.PATH ?? '');
  const { quick } = options;
  const file = await ResultFile.create(resultsFolder, startedAt);
  const progress = new Progress();
  const scale = quick ? quickScale : fullScale;
  const context: BenchContext = {
    scale,
    quick,
    client,
    crossCheck: quick ? undefined : crossCheck,
    sendOpenLoop: runOpenLoop,
    folder: resultsFolder,
    progress,
    generateCatalogText: (offers) => JSON.stringify(generateCatalog(catalogSeed, offers)),
  };

  const machine = describeMachine(resultsFolder);
  let result: BenchResult = {
    format: benchResultFormat,
    startedAt,
    quick,
    commit: describeCommit(benchFolder),
    machine,
    scale,
    routes: [],
    limits: [],
    curves: [],
    memory: null,
    micro: [],
    crossover: [],
    history: [],
  };
  const parts = selectParts(benchParts, options.only);
  const faults: string[] = [];
  for (const [at, part] of parts.entries()) {
    const beganMs = performance.now();
    const found = await part.measure(context);
    result = mergeFindings(result, found);
    await file.write(result);
    faults.push(...(part.findProblems?.(found) ?? []));
    const seconds = Math.round((performance.now() - beganMs) / 1_000);
    progress.done(`${part.name}: done in ${seconds} s (${at + 1} of ${parts.length})`);
  }

  const latest = options.only.length === 0 ? `, and as the latest run in ${await file.publishAsLatest()}` : '';
  const { markdown, htmlFile } = await writeReport(result, resultsFolder);
  process.stdout.write(`\n${markdown}\nThe same as a page: ${htmlFile}\nAll rounds: ${file.path}${latest}\n`);
  if (faults.length > 0) throw new Error(faults.join('\n'));
  if (!options.publish) return;
  await publishToReadme(readme, markdown);
  if (options.only.length === 0 && !quick) await publishReferenceResult(referenceResult, result);
}
