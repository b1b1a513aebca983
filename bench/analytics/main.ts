import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { RowsPage, RowsQuery, SummaryQuery } from '../../src/analytics/analytics.ts';
import { AnalyticsStore } from '../../src/analytics/analytics-store.ts';
import { bounds } from '../../src/bounds.ts';
import { Progress } from '../progress.ts';
import { GeneratedLedger } from './generated-ledger.ts';

const usage = `Usage: bin/with-node node bench/analytics/main.ts [options]

Folds a generated history into an analytics store, asks it, and removes it again.

  --sessions N       sessions in the store; default 1000000
  --questions N      how often each question is asked; default 300
  --folder FOLDER    where the store is built; default: the system's folder for temporary files
  --help             this text
`;

const { values: options } = parseArgs({
  options: {
    sessions: { type: 'string', default: '1000000' },
    questions: { type: 'string', default: '300' },
    folder: { type: 'string', default: tmpdir() },
    help: { type: 'boolean', default: false },
  },
});

if (options.help) process.stdout.write(usage);
else runBenchmark(Number(options.sessions), Number(options.questions), options.folder);

function runBenchmark(sessions: number, questions: number, parent: string): void {
  const folder = mkdtempSync(join(parent, 'bench-analytics-'));
  try {
    const file = join(folder, 'analytics.sqlite');
    const ledger = new GeneratedLedger(sessions);
    buildStore(file, ledger);
    runQueries(file, ledger, questions);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Folds batch by batch, as the aggregator does when it is behind; reading and decoding the ledger's files is not in it. */
function buildStore(file: string, ledger: GeneratedLedger): void {
  const store = new AnalyticsStore(file);
  const progress = new Progress();
  const records = ledger.records();
  let position = 0;
  let foldingMs = 0;
  let next = records.next();
  while (!next.done) {
    const batch: unknown[] = [];
    for (; !next.done && batch.length < bounds.projectionBatchRecordsMax; next = records.next()) batch.push(next.value);
    const startedAt = performance.now();
    store.applyBatch((fold) => {
      for (const record of batch) fold.apply(++position, record, 1);
      return { position, segment: 1, offset: position, crc: 0 };
    });
    foldingMs += performance.now() - startedAt;
    if (position % (64 * bounds.projectionBatchRecordsMax) === 0) progress.step(`folded ${position} records`);
  }
  store.close();
  const bytes = statSync(file).size;
  printLine(`folded ${position} records of ${ledger.sessions} sessions at ${Math.round(position / foldingMs)} k/s`);
  printLine(`store ${Math.round(bytes / 1e6)} MB, ${Math.round(bytes / ledger.sessions)} bytes a session`);
  printLine(`resident memory ${Math.round(process.memoryUsage.rss() / 1e6)} MB`);
}

function runQueries(file: string, ledger: GeneratedLedger, questions: number): void {
  const store = new AnalyticsStore(file);
  const { firstDay, lastDay: today } = ledger;
  const own = { account: 1, vertical: 1, mode: 'live', subs: null } as const;
  const month = (day: number) => ({
    fromDay: Math.max(firstDay, day - bounds.analyticsDefaultDays),
    toDay: day,
    today,
  });
  const large: SummaryQuery = { ...own, referrerTag: ledger.largeTag, ...month(today) };
  const whole = { ...large, fromDay: firstDay };
  const ids = (): SummaryQuery => ({ ...whole, referrerTag: null, subs: ledger.randomSubs(bounds.subIdListMax) });
  const page = (query: SummaryQuery, afterPosition: number): RowsQuery => ({
    ...query,
    afterPosition,
    limit: bounds.analyticsPageItemsMax,
  });
  const lastPage = lastPageAfter((afterPosition) => store.listRows(page(whole, afterPosition)), store.projectedPosition);
  const somewhere = () => Math.floor(Math.random() * store.projectedPosition);
  const middle = month(Math.floor((firstDay + today) / 2));
  const other = (): SummaryQuery => ({ ...large, referrerTag: ledger.randomTag() });

  const kinds: readonly (readonly [name: string, ask: () => unknown])[] = [
    ['summary, large tag, 31 days', () => store.getSummary(large)],
    ['summary, large tag, all days', () => store.getSummary(whole)],
    ['summary, some other tag, 31 days', () => store.getSummary(other())],
    ['summary, 500 ids', () => store.getSummary(ids())],
    ['daily, large tag, 100 days', () => store.listDays({ ...whole, fromDay: today - 99 })],
    ['daily, 500 ids, 100 days', () => store.listDays({ ...ids(), fromDay: today - 99 })],
    ['row, large tag, all days, first page', () => store.listRows(page(whole, 0))],
    ['row, large tag, all days, any page', () => store.listRows(page(whole, somewhere()))],
    ['row, large tag, all days, last page', () => store.listRows(page(whole, lastPage))],
    ['row, large tag, 31 days in the middle', () => store.listRows(page({ ...large, ...middle }, 0))],
    ['row, some other tag, all days, any page', () => store.listRows(page({ ...other(), fromDay: firstDay }, somewhere()))],
    ['row, 500 ids, first page', () => store.listRows(page(ids(), 0))],
  ];
  for (const [name, question] of kinds) {
    const times: number[] = [];
    // CPU time as well: on a machine that others use too, the clock on the wall tells of them.
    const cpuTimes: number[] = [];
    for (let count = 0; count < questions; count++) {
      const startedAt = performance.now();
      const cpu = process.cpuUsage();
      question();
      const { user, system } = process.cpuUsage(cpu);
      times.push(performance.now() - startedAt);
      cpuTimes.push((user + system) / 1_000);
    }
    printLine(`${name.padEnd(42)} ms: ${formatQuantiles(times)}; CPU ms: ${formatQuantiles(cpuTimes)}`);
  }
  store.close();
  printLine(`resident memory ${Math.round(process.memoryUsage.rss() / 1e6)} MB`);
}

/** Goes back from the end, a few records at a time, to where the last full page begins. */
function lastPageAfter(ask: (afterPosition: number) => RowsPage, end: number): number {
  for (let after = end; after > 0; after -= bounds.analyticsPageItemsMax) {
    if (ask(after).nextAfterPosition !== null) return after + bounds.analyticsPageItemsMax;
  }
  return 0;
}

function formatQuantiles(values: number[]): string {
  values.sort((a, b) => a - b);
  const [p50, p99, last] = [0.5, 0.99, 1].map((share) => values[Math.ceil(share * values.length) - 1]!.toFixed(2));
  return `p50 ${p50}  p99 ${p99}  max ${last}`;
}

function printLine(line: string): void {
  process.stdout.write(`${line}\n`);
}
