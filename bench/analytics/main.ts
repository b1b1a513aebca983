import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { RowsPage, RowsQuery, SummaryQuery } from '../../src/analytics/analytics.ts';
import { AnalyticsStore } from '../../src/analytics/analytics-store.ts';
import { bounds } from '../../src/bounds.ts';
import { dayMs } from '../../src/domain/calendar.ts';
import { subIdByteLength } from '../../src/ids/sub-id.ts';
import type { DeviceClass, LedgerRecord } from '../../src/ledger/ledger-record.ts';
import { Progress } from '../bench-part.ts';

const dayCount = 200;
const firstLedgerDay = 20_400;
const otherTagCount = 1_000;
const lenderCount = 30;
const offerCount = 60;
/** Number of sessions between a session and its view or click, so that the aggregator reads them in different batches. */
const viewDelaySessions = 3_000;
const clickDelaySessions = 6_000;

/**
 * Generated ledger of one account, evenly distributed over 200 days. 30 % of the sessions have one common tag, and the others one of
 * 1,000 tags. 25 % of the sessions have a view of five offers, 12.5 % have a click, and 50 % have metadata.
 */
class GeneratedLedger {
  readonly sessions: number;
  readonly firstDay = firstLedgerDay;
  readonly lastDay = firstLedgerDay + dayCount - 1;
  readonly largeTag = 'large-tag';

  constructor(sessions: number) {
    this.sessions = sessions;
  }

  *records(): Generator<LedgerRecord, void> {
    for (let serial = 0; serial < this.sessions + clickDelaySessions; serial++) {
      if (serial < this.sessions) yield this.#created(serial);
      const viewed = serial - viewDelaySessions;
      if (viewed >= 0 && viewed < this.sessions && viewed % 4 === 0) yield this.#viewed(viewed);
      const clicked = serial - clickDelaySessions;
      if (clicked >= 0 && clicked % 8 === 0) yield this.#clicked(clicked);
    }
  }

  /** Returns different sessions from the whole ledger. */
  randomSubs(count: number): Uint8Array[] {
    const serials = new Set<number>();
    while (serials.size < Math.min(count, this.sessions)) serials.add(Math.floor(Math.random() * this.sessions));
    return [...serials].map((serial) => this.#sub(serial));
  }

  randomTag(): string {
    return `tag-${Math.floor(Math.random() * otherTagCount)}`;
  }

  #created(serial: number): LedgerRecord {
    const mixed = hashSerial(serial);
    const tag = mixed % 10 < 3 ? this.largeTag : `tag-${(mixed >>> 4) % otherTagCount}`;
    const metadata = serial % 2 === 0 ? `{"campaign":"spring","page":"landing-${mixed % 8}","bid":1.25}` : null;
    return [1, this.#createdMs(serial), this.#sub(serial), tag, 1, (mixed % 5) as DeviceClass, metadata];
  }

  #viewed(serial: number): LedgerRecord {
    const shown = Array.from({ length: 5 }, (_, index) => offerId(serial + index));
    return [2, this.#createdMs(serial) + 60_000, this.#sub(serial), 'catalog', shown];
  }

  #clicked(serial: number): LedgerRecord {
    const lender = `Lender ${(serial % offerCount) % lenderCount}`;
    return [3, this.#createdMs(serial) + 90_000, this.#sub(serial), 'catalog', offerId(serial), lender, 4_500_000];
  }

  #createdMs(serial: number): number {
    return firstLedgerDay * dayMs + Math.floor((serial / this.sessions) * dayCount * dayMs);
  }

  #sub(serial: number): Uint8Array {
    const bytes = Buffer.alloc(subIdByteLength);
    bytes.writeUIntBE(this.#createdMs(serial), 0, 6);
    bytes.writeUInt32BE(1, 8);
    bytes[12] = 2;
    bytes[13] = 1;
    for (let offset = 14; offset < subIdByteLength; offset += 4)
      bytes.writeUInt32BE(hashSerial(serial + offset), Math.min(offset, subIdByteLength - 4));
    return bytes;
  }
}

function offerId(number: number): string {
  return `lender-offer-${number % offerCount}`;
}

/** Returns a deterministic pseudorandom number, so that queries can generate the same sessions again. */
function hashSerial(serial: number): number {
  let mixed = Math.imul(serial ^ (serial >>> 15), 0x2c1b3c6d);
  mixed = Math.imul(mixed ^ (mixed >>> 12), 0x297a2d39);
  return (mixed ^ (mixed >>> 15)) >>> 0;
}

const usage = `Usage: bin/with-node node bench/analytics/main.ts [options]

Builds an analytics store from a generated ledger, measures queries and deletes the store.

  --sessions N       number of sessions in the store; default 1000000
  --questions N      number of runs of each query; default 300
  --folder FOLDER    parent folder of the store; default: the temporary folder of the system
  --help             prints this text
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

function runBenchmark(sessions: number, runs: number, parent: string): void {
  const folder = mkdtempSync(join(parent, 'bench-analytics-'));
  try {
    const file = join(folder, 'analytics.sqlite');
    const ledger = new GeneratedLedger(sessions);
    buildStore(file, ledger);
    runQueries(file, ledger, runs);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Applies full batches like an aggregator that is behind. The time excludes the reading and decoding of ledger files. */
function buildStore(file: string, ledger: GeneratedLedger): void {
  const store = new AnalyticsStore(file);
  const progress = new Progress();
  const records = ledger.records();
  let position = 0;
  let applyMs = 0;
  let next = records.next();
  while (!next.done) {
    const batch: unknown[] = [];
    for (; !next.done && batch.length < bounds.projectionBatchRecordsMax; next = records.next()) batch.push(next.value);
    const startedAt = performance.now();
    store.applyBatch((projection) => {
      for (const record of batch) projection.apply(++position, record, 1);
      return { position, segment: 1, offset: position, crc: 0 };
    });
    applyMs += performance.now() - startedAt;
    if (position % (64 * bounds.projectionBatchRecordsMax) === 0) progress.step(`applied ${position} records`);
  }
  store.close();
  const bytes = statSync(file).size;
  printLine(`applied ${position} records of ${ledger.sessions} sessions at ${Math.round(position / applyMs)} k/s`);
  printLine(`store ${Math.round(bytes / 1e6)} MB, ${Math.round(bytes / ledger.sessions)} bytes per session`);
  printLine(`resident memory ${Math.round(process.memoryUsage.rss() / 1e6)} MB`);
}

function runQueries(file: string, ledger: GeneratedLedger, runs: number): void {
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
  const lastPage = lastPageAfter(
    (afterPosition) => store.listRows(page(whole, afterPosition)),
    store.projectedPosition,
  );
  const randomPosition = () => Math.floor(Math.random() * store.projectedPosition);
  const middle = month(Math.floor((firstDay + today) / 2));
  const other = (): SummaryQuery => ({ ...large, referrerTag: ledger.randomTag() });

  const kinds: readonly (readonly [name: string, query: () => unknown])[] = [
    ['summary, large tag, 31 days', () => store.getSummary(large)],
    ['summary, large tag, all days', () => store.getSummary(whole)],
    ['summary, some other tag, 31 days', () => store.getSummary(other())],
    ['summary, 500 ids', () => store.getSummary(ids())],
    ['daily, large tag, 100 days', () => store.listDays({ ...whole, fromDay: today - 99 })],
    ['daily, 500 ids, 100 days', () => store.listDays({ ...ids(), fromDay: today - 99 })],
    ['row, large tag, all days, first page', () => store.listRows(page(whole, 0))],
    ['row, large tag, all days, any page', () => store.listRows(page(whole, randomPosition()))],
    ['row, large tag, all days, last page', () => store.listRows(page(whole, lastPage))],
    ['row, large tag, 31 days in the middle', () => store.listRows(page({ ...large, ...middle }, 0))],
    [
      'row, some other tag, all days, any page',
      () => store.listRows(page({ ...other(), fromDay: firstDay }, randomPosition())),
    ],
    ['row, 500 ids, first page', () => store.listRows(page(ids(), 0))],
  ];
  for (const [name, query] of kinds) {
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
    printLine(`${name.padEnd(42)} ms: ${formatQuantiles(times)}; CPU ms: ${formatQuantiles(cpuTimes)}`);
  }
  store.close();
  printLine(`resident memory ${Math.round(process.memoryUsage.rss() / 1e6)} MB`);
}

/** Searches backwards for the `afterPosition` of the last page of rows. */
function lastPageAfter(listAfter: (afterPosition: number) => RowsPage, end: number): number {
  for (let after = end; after > 0; after -= bounds.analyticsPageItemsMax) {
    if (listAfter(after).nextAfterPosition !== null) return after + bounds.analyticsPageItemsMax;
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
