import { existsSync } from 'node:fs';
import type { CohortFilter } from '../../analytics/analytics.ts';
import { isDatabaseCorrupt, StoreVersionMismatchError } from '../../analytics/analytics-database.ts';
import { ReadOnlyAnalytics } from '../../analytics/read-only-analytics.ts';
import { keyFilePath } from '../../auth/key-file.ts';
import { type IssuedKey, KeyRegistry } from '../../auth/key-registry.ts';
import { bounds } from '../../bounds.ts';
import { readDataDir } from '../../config/config.ts';
import { readEnv } from '../../config/env.ts';
import { dayOf } from '../../domain/calendar.ts';
import { systemClock } from '../../domain/clock.ts';
import type { Mode } from '../../domain/mode.ts';
import { escapedJson } from '../../domain/text.ts';
import { dataFiles } from '../../files/data-files.ts';
import type { DayRange, DayView } from '../../operations/analytics-views.ts';
import {
  type AnalyticsPage,
  type PageRequest,
  readDaysPage,
  readRowsPage,
  readSummary,
  resolveDayRange,
} from '../../operations/query-analytics.ts';
import { knownVerticals } from '../../verticals/registry.ts';
import type { Vertical } from '../../verticals/vertical.ts';
import { CommandLineError, exitCodes } from '../command-line-error.ts';
import type { AnalyticsReportKind } from '../commands/analytics.ts';
import { formatTable, printChunk, printJson, printNotice, printResult } from '../output.ts';
import { formatAsOf, formatDays, formatSessions, formatSummary } from './analytics-text.ts';
import { withKeyRegistry } from './keys.ts';

/** Opens the analytics store of a data folder for reading, runs a function, and closes the store. A server may be running. */
async function withStoredAnalytics(
  dataDir: string,
  run: (analytics: ReadOnlyAnalytics) => void | Promise<void>,
): Promise<void> {
  const { analyticsStoreFile } = dataFiles(dataDir);
  if (!existsSync(analyticsStoreFile)) {
    throw new CommandLineError(`there are no analytics in ${dataDir} yet (see SVC_DATA_DIR)`);
  }
  try {
    const analytics = new ReadOnlyAnalytics(analyticsStoreFile);
    try {
      await run(analytics);
    } finally {
      await analytics.close();
    }
  } catch (error) {
    if (!(error instanceof StoreVersionMismatchError) && !isDatabaseCorrupt(error)) throw error;
    const remedy = 'start the service, which rebuilds it, or run marketplace analytics rebuild';
    throw new CommandLineError(`${analyticsStoreFile} cannot be read (${error.message}): ${remedy}`, { cause: error });
  }
}

export interface AnalyticsReportOptions {
  readonly account: string;
  readonly tag: string;
  readonly vertical: Vertical;
  readonly mode: Mode;
  /** First and last day of the report, as day numbers. */
  readonly from?: number;
  readonly to?: number;
  readonly json?: true;
}

/** Prints a report from the analytics store of the data folder. The figures are those of GET /analytics. */
export async function printAnalyticsReport(kind: AnalyticsReportKind, options: AnalyticsReportOptions): Promise<void> {
  const dataDir = readDataDir(readEnv());
  const { account } = listKeys(dataDir).find(({ accountName }) => accountName === options.account) ?? {};
  if (account === undefined) {
    throw new CommandLineError('there is no account of this name; marketplace keys list shows them');
  }
  const filter: CohortFilter = {
    account,
    vertical: options.vertical.number,
    mode: options.mode,
    referrerTag: options.tag,
    subs: null,
  };
  const today = dayOf(systemClock.wallMs());
  const range = resolveDayRange({ from: options.from, to: options.to }, today);
  if (range === null) throw new CommandLineError('--from must not be after --to', { exitCode: exitCodes.usage });
  const json = options.json ?? false;
  await withStoredAnalytics(dataDir, async (analytics) => {
    if (kind === 'daily') return printDailyReport(analytics, filter, range, today, json);
    if (kind === 'sessions') return printSessionsReport(analytics, filter, range, json);
    const undated = options.from === undefined && options.to === undefined;
    const summary = await readSummary(analytics, filter, { ...range, undated, today });
    if (json) printJson({ ...summary, as_of_position: analytics.projectedPosition });
    else printResult(formatSummary(summary, analytics.projectedPosition));
  });
}

async function printDailyReport(
  analytics: ReadOnlyAnalytics,
  filter: CohortFilter,
  range: DayRange,
  today: number,
  json: boolean,
): Promise<void> {
  const days: DayView[] = [];
  for await (const items of readPages(filter, range, (page) => readDaysPage(analytics, page, today))) {
    if (!json) days.push(...items);
    else if (!(await printChunk(toJsonLines(items, analytics.projectedPosition)))) return;
  }
  if (!json) printResult(formatDays(days, analytics.projectedPosition));
}

async function printSessionsReport(
  analytics: ReadOnlyAnalytics,
  filter: CohortFilter,
  range: DayRange,
  json: boolean,
): Promise<void> {
  let printed = 0;
  for await (const items of readPages(filter, range, (page) => readRowsPage(analytics, page))) {
    if (items.length === 0) break;
    const lines = json ? toJsonLines(items, analytics.projectedPosition) : formatSessions(items, printed === 0);
    if (!(await printChunk(lines))) return;
    printed += items.length;
  }
  if (json) return;
  const count = printed === 0 ? 'No sessions found' : `${printed} sessions`;
  printNotice(`${count}, ${formatAsOf(analytics.projectedPosition)}.`);
}

async function* readPages<Item>(
  filter: CohortFilter,
  range: DayRange,
  readPage: (page: PageRequest) => Promise<AnalyticsPage<Item>>,
): AsyncGenerator<readonly Item[], void> {
  for (let after: number | null = 0; after !== null; ) {
    const page: AnalyticsPage<Item> = await readPage({
      filter,
      position: { ...range, after },
      limit: bounds.analyticsPageItemsMax,
      signal: null,
    });
    yield page.items;
    after = page.nextAfter;
  }
}

function toJsonLines(items: readonly object[], position: number): string {
  return items.map((item) => escapedJson({ ...item, as_of_position: position })).join('\n');
}

function listKeys(dataDir: string): readonly IssuedKey[] {
  return withKeyRegistry(KeyRegistry.openExisting(keyFilePath(dataDir)), (registry) => registry.list());
}

/** Prints the number of referrer tags of each account, vertical and mode. */
export async function printTagCounts(options: { readonly json?: true }): Promise<void> {
  const dataDir = readDataDir(readEnv());
  const keys = listKeys(dataDir);
  await withStoredAnalytics(dataDir, (analytics) => {
    const counts = analytics.countTags().map(([account, vertical, test, tags]) => ({
      account: keys.find((key) => key.account === account)?.accountName ?? null,
      vertical: knownVerticals.find(({ number }) => number === vertical)?.segment ?? null,
      mode: test === 1 ? 'test' : 'live',
      tags,
      as_of_position: analytics.projectedPosition,
    }));
    if (options.json) {
      printJson(counts);
      return;
    }
    const rows = counts.map(({ account, vertical, mode, tags }) => [
      account ?? '-',
      vertical ?? '-',
      mode,
      String(tags),
    ]);
    if (rows.length > 0) printResult(formatTable(['ACCOUNT', 'VERTICAL', 'MODE', 'TAGS'], rows));
    const asOf = formatAsOf(analytics.projectedPosition);
    printNotice(rows.length === 0 ? `No tags found, ${asOf}.` : `Counts are ${asOf}.`);
  });
}
