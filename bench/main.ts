/** The figures of bench/README.md: `make bench`. Options: `--help`. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { generateCatalog } from '../test/support/random-catalog.ts';
import { type CrossoverCell, measureCrossover } from './crossover/crossover.ts';
import { aggregator } from './history/aggregator.ts';
import { durableEvents } from './history/durable-events.ts';
import type { HistoryFigure, HistoryMeasure } from './history/history.ts';
import { restart } from './history/restart.ts';
import { autocannonClient } from './load/autocannon-client.ts';
import type { LoadClient } from './load/load-client.ts';
import { findWrk } from './load/wrk-client.ts';
import { describeMachine } from './machine.ts';
import type { MicroResult } from './micro/micro.ts';
import { runMicros } from './micro/run.ts';
import { type BenchOptions, parseBenchOptions, usage } from './options.ts';
import { Progress } from './progress.ts';
import { publish } from './report/publish.ts';
import { type Report, toMarkdown } from './report/report.ts';
import { runScenario, type Scale, type ScenarioResult } from './runner.ts';
import { clickScenario } from './scenarios/click.ts';
import { marketplaceKnownScenario } from './scenarios/marketplace-known.ts';
import { marketplaceUnknownScenario } from './scenarios/marketplace-unknown.ts';
import type { Scenario } from './scenarios/scenario.ts';
import { sessionScenario } from './scenarios/session.ts';

const scenarios: readonly Scenario[] = [
  sessionScenario,
  marketplaceKnownScenario,
  marketplaceUnknownScenario,
  clickScenario,
];
const micro = 'micro';
const crossover = 'crossover';
const history = 'history';
const histories: readonly HistoryMeasure[] = [durableEvents, restart, aggregator];
const names = [...scenarios.map(({ name }) => name), micro, crossover, history];

const resultsFolder = fileURLToPath(new URL('./results', import.meta.url));
const readme = fileURLToPath(new URL('./README.md', import.meta.url));
const catalogSeed = 200;

const fullScale: Scale = {
  rounds: 7,
  seconds: 3,
  connections: 64,
  roundRequests: 40_000,
  keys: 5_000,
  historySessions: 1_000_000,
};
const quickScale: Scale = {
  rounds: 3,
  seconds: 1,
  connections: 64,
  roundRequests: 6_000,
  keys: 1_000,
  historySessions: 50_000,
};

/** A run that was interrupted ends like one that failed: `process.exit` takes the servers and clients along. */
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));

try {
  const options = parseBenchOptions(process.argv.slice(2), names);
  if (options.help) process.stdout.write(usage.replace('NAMES', names.join(', ')));
  else await run(options);
} catch (error) {
  process.stderr.write(`\nbench: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}

async function run(options: BenchOptions): Promise<void> {
  const progress = new Progress();
  const scale = options.quick ? quickScale : fullScale;
  const wanted = (name: string) => options.only.length === 0 || options.only.includes(name);
  const client = await chooseClient(options);
  await mkdir(resultsFolder, { recursive: true });

  const startedAt = new Date().toISOString();
  const machine = describeMachine(resultsFolder);
  const scenarioResults: ScenarioResult[] = [];
  const microResults: MicroResult[] = [];
  const crossoverCells: CrossoverCell[] = [];
  const historyFigures: HistoryFigure[] = [];
  const file = join(resultsFolder, `${startedAt.replaceAll(':', '-')}.json`);
  // Written again after each part, so that a run that fails late has not been for nothing.
  const save = async (): Promise<Report> => {
    const { quick } = options;
    const report = {
      startedAt,
      quick,
      machine,
      scale,
      scenarios: scenarioResults,
      micro: microResults,
      crossover: crossoverCells,
      history: historyFigures,
    };
    await writeFile(file, `${JSON.stringify(report, null, 2)}\n`);
    return report;
  };

  for (const scenario of scenarios.filter(({ name }) => wanted(name))) {
    scenarioResults.push(await runScenario(scenario, { scale, client, folder: resultsFolder, progress, catalog }));
    await save();
    progress.done(`${scenario.name}: done`);
  }
  if (wanted(micro)) {
    progress.step('micro: timing the hot functions alone');
    microResults.push(...(await runMicros(options.quick)));
    progress.done('micro: done');
  }
  if (wanted(crossover)) {
    progress.step('crossover: ranking in the thread and in a worker');
    const { rounds, seconds } = scale;
    crossoverCells.push(...(await measureCrossover({ rounds, seconds: seconds / 10, folder: resultsFolder, catalog })));
    await save();
    progress.done('crossover: done');
  }
  if (wanted(history)) {
    const { rounds, seconds, historySessions: sessions } = scale;
    for (const { name, measure } of histories) {
      progress.step(`history: ${name}`);
      historyFigures.push(...(await measure({ rounds, seconds, sessions, folder: resultsFolder })));
      await save();
    }
    progress.done('history: done');
  }

  const markdown = toMarkdown(await save());
  process.stdout.write(`\n${markdown}\nAll rounds: ${file}\n`);
  if (options.publish) await publish(readme, markdown);
}

async function chooseClient(options: BenchOptions): Promise<LoadClient> {
  if (options.client === 'autocannon') return autocannonClient;
  const wrk = await findWrk(process.env.PATH ?? '');
  if (wrk !== null) return wrk;
  if (options.client === 'wrk') throw new Error('wrk is not on PATH');
  return autocannonClient;
}

function catalog(offers: number): string {
  return JSON.stringify(generateCatalog(catalogSeed, offers));
}
