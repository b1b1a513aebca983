/** Measures all figures that bench/README.md shows: `make bench`. Options: `--help`. */
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fullBenchScale, quickBenchScale } from './bench-part.ts';
import { benchResultFormat, trimBenchResult } from './capacity/benchmark-result.ts';
import { chooseLoadClients } from './load/load-clients.ts';
import { describeCommit, describeMachine } from './machine.ts';
import { type BenchOptions, formatUsage, parseBenchOptions, selectBenchParts } from './options.ts';
import { toMarkdown } from './report/markdown.ts';
import { publishResult } from './report/publish.ts';
import { findProblemAfterRun, findProblemBeforeRun, readCpuUsage } from './report/publish-check.ts';
import { type BenchResult, mergePartResult } from './result/bench-result.ts';
import { createBenchContext, resultsFolder, runBenchMain } from './run-main.ts';

/** Result file that the capacity planner reads by default. */
const referenceResult = new URL('./capacity/reference-result.json', import.meta.url);

await runBenchMain('bench', async () => {
  const options = parseBenchOptions(process.argv.slice(2));
  if (options.help) process.stdout.write(formatUsage());
  else await run(options);
});

async function run({ quick, only, client, publish }: BenchOptions): Promise<void> {
  const startedAt = new Date().toISOString();
  const scale = quick ? quickBenchScale : fullBenchScale;
  await mkdir(resultsFolder, { recursive: true });
  const machine = describeMachine(resultsFolder);
  const problem = publish ? findProblemBeforeRun(machine) : null;
  if (problem !== null) throw new Error(problem);
  const usageBefore = readCpuUsage();
  const clients = await chooseLoadClients(client);
  const context = createBenchContext(scale, quick, clients.client, quick ? undefined : clients.crossCheck);
  let result: BenchResult = {
    format: benchResultFormat,
    startedAt,
    quick,
    commit: describeCommit(),
    machine,
    scale,
    routes: [],
    stack: [],
    limits: [],
    curves: [],
    memory: null,
    micro: [],
    history: [],
    consoles: [],
  };
  const file = join(resultsFolder, `${startedAt.replaceAll(':', '-')}.json`);
  const parts = selectBenchParts(only);
  for (const [at, part] of parts.entries()) {
    const beganMs = performance.now();
    result = mergePartResult(result, await part.measure(context));
    // The result is written after each part, so that a failure of a later part does not lose the results of earlier parts.
    await writeBenchResult(file, result);
    const seconds = Math.round((performance.now() - beganMs) / 1_000);
    context.progress.printLine(`${part.name}: done in ${seconds} s (${at + 1} of ${parts.length})`);
  }
  const isComplete = only.length === 0;
  // The capacity planner needs the results of all benchmark parts.
  if (isComplete) await writeBenchResult(join(resultsFolder, 'latest.json'), result);
  const markdown = toMarkdown(result);
  process.stdout.write(`\n${markdown}\nAll rounds: ${file}${isComplete ? ', and latest.json' : ''}\n`);
  if (!publish) return;
  const usageAfter = readCpuUsage();
  const noise =
    usageBefore === null || usageAfter === null ? null : findProblemAfterRun(usageBefore, usageAfter, machine.cores);
  if (noise !== null) throw new Error(noise);
  await publishResult(result);
  if (isComplete && !quick) await writeFile(referenceResult, `${JSON.stringify(trimBenchResult(result))}\n`);
}

/** Writes a result file atomically. */
async function writeBenchResult(file: string, result: BenchResult): Promise<void> {
  const draft = `${file}.part`;
  await writeFile(draft, `${JSON.stringify(result, null, 2)}\n`);
  await rename(draft, file);
}
