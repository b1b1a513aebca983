import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { SessionRowsQuery, SummaryQuery } from '../../src/analytics/analytics.ts';
import { AnalyticsStore } from '../../src/analytics/analytics-store.ts';
import { CounterArchive } from '../../src/analytics/counter-archive.ts';
import { LedgerFollower } from '../../src/analytics/ledger-follower.ts';
import { bounds } from '../../src/bounds.ts';
import { daysSinceEpoch } from '../../src/domain/calendar.ts';
import { assembleResults } from '../../src/experiments/assemble-results.ts';
import type { ResultsWithSeries } from '../../src/experiments/experiment-results.ts';
import { dataPaths } from '../../src/files/data-paths.ts';
import { experimentDefinedRecord, subIdBytes } from '../../test/support/ledger-records.ts';
import { ProgressPrinter } from '../bench-part.ts';
import {
  createSampleSubId,
  getLedgerStartTime,
  type SampleLedger,
  writeSampleLedger,
} from '../history/sample-ledger.ts';

const usage = `Usage: bin/with-node node bench/analytics/main.ts [options]

Builds an analytics store from a generated ledger, measures queries and deletes the store. 30 % of the sessions have each of two large
referrer tags, which are the arms of an experiment, and the others one of 1,000 tags.

  --sessions N       number of sessions in the store; default 1000000
  --questions N      number of runs of each query; default 300
  --folder FOLDER    parent folder of the store; default: the temporary folder of the system
  --help             prints this text
`;

const largeTags = ['large-tag', 'other-large-tag'] as const;
const [largeTag] = largeTags;
/** The experiment whose arms are the large tags. */
const experiment = { account: 1, vertical: 1, mode: 'live', name: 'large-tags' } as const;
const otherTagCount = 1_000;
const warmUpRuns = 100;

const { values: options } = parseArgs({
  options: {
    sessions: { type: 'string', default: '1000000' },
    questions: { type: 'string', default: '300' },
    folder: { type: 'string', default: tmpdir() },
    help: { type: 'boolean', default: false },
  },
});

if (options.help) process.stdout.write(usage);
else {
  const folder = mkdtempSync(join(options.folder, 'bench-analytics-'));
  const ledger: SampleLedger = {
    sessions: Number(options.sessions),
    days: 200,
    // Multiplies the session number by the prime 7,919, so that successive sessions get distant tag numbers.
    tagOf: (serial) => largeTags[Math.floor((serial % 10) / 3)] ?? `tag-${(serial * 7_919) % otherTagCount}`,
    sessionsPerView: 4,
    sessionsPerClick: 8,
    sessionsPerPayout: 64,
    // 3,000 sessions are created between a session and its view, so that the session record and the view record are in different batches.
    delaySessions: 3_000,
    metadata: '{"campaign":"spring","page":"landing-1","bid":1.25}',
    firstRecord: experimentDefinedRecord(subIdBytes({ createdMs: getLedgerStartTime, serial: 0 }), experiment.name, {
      arms: largeTags.map((referrerTag) => ({ referrerTag, weight: 0.5, label: null })),
      control: largeTag,
    }),
  };
  try {
    await buildStore(folder, ledger);
    runQueries(folder, ledger, Number(options.questions));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Applies the records of the ledger to an analytics store, in batches of the maximum size. */
async function buildStore(folder: string, ledger: SampleLedger): Promise<void> {
  const progress = new ProgressPrinter();
  const files = dataPaths(folder);
  progress.printProgress('writing the ledger');
  const records = await writeSampleLedger(files.ledgerFolder, ledger);
  const follower = new LedgerFollower(files, () => {});
  const startedMs = performance.now();
  while (follower.appliedPosition < records) {
    follower.applyBatch(records);
    progress.printProgress(`applied ${follower.appliedPosition} of ${records} records`);
  }
  while (follower.hasSessionsToFill) follower.fillExperiments();
  const ms = performance.now() - startedMs;
  follower.close();
  const bytes = statSync(files.analyticsStoreFile).size;
  console.log(`applied ${records} records of ${ledger.sessions} sessions at ${Math.round(records / ms)} k/s`);
  console.log(`store ${Math.round(bytes / 1e6)} MB, ${Math.round(bytes / ledger.sessions)} bytes per session`);
  console.log(`resident memory ${Math.round(process.memoryUsage.rss() / 1e6)} MB`);
}

function runQueries(folder: string, ledger: SampleLedger, runs: number): void {
  const { analyticsStoreFile, archiveFolder } = dataPaths(folder);
  const store = new AnalyticsStore(analyticsStoreFile, new CounterArchive(archiveFolder));
  const firstDay = daysSinceEpoch(getLedgerStartTime);
  const today = firstDay + ledger.days - 1;
  const random = (count: number) => Math.floor(Math.random() * count);
  const randomSubs = () =>
    Array.from({ length: bounds.subIdListMax }, () => createSampleSubId(ledger, random(ledger.sessions)));
  const own = { account: 1, vertical: 1, mode: 'live', today, toDay: today, subs: null } as const;
  const whole: SummaryQuery = { ...own, referrerTag: largeTag, fromDay: firstDay };
  const large = { ...whole, fromDay: Math.max(firstDay, today - bounds.analyticsDefaultDays) };
  const ids = (): SummaryQuery => ({ ...whole, referrerTag: null, subs: randomSubs() });
  const smaller = (): SummaryQuery => ({ ...whole, referrerTag: `tag-${random(otherTagCount)}` });
  const limit = bounds.analyticsPageItemsMax;
  const page = (query: SummaryQuery, afterPosition: number): SessionRowsQuery => ({
    ...query,
    order: 'oldest',
    afterPosition,
    limit,
  });
  const kinds: readonly (readonly [name: string, query: () => unknown])[] = [
    ['summary of a large tag, 31 days', () => store.getSummary(large)],
    ['summary of a large tag, all days', () => store.getSummary(whole)],
    ['summary of 500 ids', () => store.getSummary(ids())],
    ['daily, large tag, 100 days', () => store.listDailyAnalytics({ ...whole, fromDay: today - 99 })],
    ['page of rows, large tag', () => store.listSessions(page(whole, random(store.appliedPosition)))],
    ['page of rows, smaller tag', () => store.listSessions(page(smaller(), random(store.appliedPosition)))],
    ['page of rows of 500 ids', () => store.listSessions(page(ids(), 0))],
    [
      'results of an experiment',
      () => store.getExperimentResults({ ...experiment, today, withSeries: false, isLast: false, groupBy: null }),
    ],
    ['first results of a day', () => readFirstResults(store, today - 1)],
  ];
  for (const [name, query] of kinds) {
    // V8 compiles the code of a query during its first runs.
    for (let count = 0; count < warmUpRuns; count++) query();
    const times: number[] = [];
    // The CPU time is also measured, because other processes on the machine affect the elapsed time.
    const cpuTimes: number[] = [];
    for (let count = 0; count < runs; count++) {
      const startedAt = performance.now();
      const cpu = process.cpuUsage();
      query();
      const { user, system } = process.cpuUsage(cpu);
      times.push(performance.now() - startedAt);
      cpuTimes.push((user + system) / 1_000);
    }
    console.log(`${name.padEnd(34)} ms: ${formatQuantiles(times)}; CPU ms: ${formatQuantiles(cpuTimes)}`);
  }
  store.close();
  console.log(`resident memory ${Math.round(process.memoryUsage.rss() / 1e6)} MB`);
}

/** Computes the results of the experiment as the first query of a day does, which also reads the units with the largest revenue. */
function readFirstResults(store: AnalyticsStore, asOf: number): ResultsWithSeries {
  const found = store.readExperimentFigures({ ...experiment, asOf, units: 'largest' })!;
  return assembleResults(found.experiment, found.figures);
}

function formatQuantiles(values: number[]): string {
  values.sort((a, b) => a - b);
  const [p50, p99, last] = [0.5, 0.99, 1].map((share) => values[Math.ceil(share * values.length) - 1]!.toFixed(2));
  return `p50 ${p50}  p99 ${p99}  max ${last}`;
}
