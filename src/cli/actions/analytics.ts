import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { isDatabaseCorrupt, StoreVersionMismatch } from '../../analytics/analytics-database.ts';
import { ReadOnlyAnalytics } from '../../analytics/read-only-analytics.ts';
import { keyFilePath } from '../../auth/key-file.ts';
import { KeyRegistry } from '../../auth/key-registry.ts';
import { readDataDir } from '../../config/config.ts';
import { readEnv } from '../../config/env.ts';
import { systemClock } from '../../domain/clock.ts';
import type { Mode } from '../../domain/mode.ts';
import { escapedJson } from '../../domain/text.ts';
import { dataFiles } from '../../files/data-files.ts';
import { PageCursors } from '../../ids/page-cursor.ts';
import { SubIds } from '../../ids/sub-id.ts';
import type { DailyView, DayView, RowsView, SummaryView } from '../../operations/analytics-views.ts';
import { type AnalyticsRequest, queryAnalytics } from '../../operations/query-analytics.ts';
import { RandomPool } from '../../secrets/random-pool.ts';
import { SecretRing } from '../../secrets/secret-ring.ts';
import { knownVerticals, servedVerticals } from '../../verticals/registry.ts';
import type { Tenant } from '../../verticals/tenant.ts';
import { CommandLineError, exitCodes } from '../command-line-error.ts';
import type { AnalyticsReportKind } from '../commands/analytics.ts';
import { formatTable, printChunk, printJson, printNotice, printResult } from '../output.ts';
import { formatAsOf, formatDays, formatSessions, formatSummary } from './analytics-text.ts';
import { withKeyRegister } from './key-file.ts';

/** Runs a command on the analytics store of a data folder, which a server may have open too, and closes it whatever happens. */
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
  } catch (fault) {
    throw toStoreCommandError(analyticsStoreFile, fault);
  }
}

/** What an operator can do something about, as one line; anything else stays as it is. */
function toStoreCommandError(file: string, fault: unknown): unknown {
  if (fault instanceof StoreVersionMismatch || isDatabaseCorrupt(fault)) {
    const remedy = 'the next start of the service derives it again, or marketplace analytics rebuild';
    return new CommandLineError(`${file} cannot be read (${fault.message}): ${remedy}`, { cause: fault });
  }
  const { code } = fault as { readonly code?: unknown };
  if (fault instanceof CommandLineError || typeof code !== 'string') return fault;
  return new CommandLineError(`${file} cannot be read (${code})`, { cause: fault });
}

export interface AnalyticsReportOptions {
  readonly account: string;
  readonly tag: string;
  readonly vertical: string;
  readonly mode: Mode;
  readonly from?: string;
  readonly to?: string;
  readonly json?: true;
}

/** Answers by the very operation behind GET /analytics, from the store of the data folder. */
export async function printAnalyticsReport(query: AnalyticsReportKind, options: AnalyticsReportOptions): Promise<void> {
  const dataDir = readDataDir(readEnv());
  const tenant = findTenant(dataDir, options);
  const request = { referrer_tag: options.tag, date_from: options.from, date_to: options.to };
  await withStoredAnalytics(dataDir, (analytics) =>
    printReport(query, new AnalyticsReader(analytics, tenant), request, options.json ?? false),
  );
}

/** Asks for one tenant, and knows up to which record the last answer counts. */
class AnalyticsReader {
  readonly #analytics: ReadOnlyAnalytics;
  readonly #tenant: Tenant;
  /** Ids and cursors are those of this command alone: no secret of the service is needed. */
  readonly #secrets = new SecretRing([{ number: 1, bytes: randomBytes(32) }]);
  readonly #deps;

  constructor(analytics: ReadOnlyAnalytics, tenant: Tenant) {
    this.#analytics = analytics;
    this.#tenant = tenant;
    this.#deps = {
      clock: systemClock,
      subIds: new SubIds(this.#secrets, new RandomPool()),
      analytics,
      pageCursors: new PageCursors(this.#secrets),
    };
  }

  get countedPosition(): number {
    return this.#analytics.projectedPosition;
  }

  async query<View extends SummaryView | DailyView | RowsView>(request: AnalyticsRequest): Promise<View> {
    const outcome = await queryAnalytics(this.#deps, this.#tenant, request);
    if (outcome.ok) return outcome.value as View;
    // All else was checked with the options.
    throw new CommandLineError('--from must not be after --to', { exitCode: exitCodes.usage });
  }

  /** Page after page. */
  async *queryPages<View extends DailyView | RowsView>(request: AnalyticsRequest): AsyncGenerator<View, void> {
    let cursor: string | null | undefined;
    while (cursor !== null) {
      const page: View = await this.query<View>({ ...request, cursor });
      yield page;
      cursor = page.next_cursor;
    }
  }
}

async function printReport(
  query: AnalyticsReportKind,
  questioner: AnalyticsReader,
  request: AnalyticsRequest,
  json: boolean,
): Promise<void> {
  switch (query) {
    case 'summary': {
      const summary = await questioner.query<SummaryView>(request);
      if (json) printJson({ ...summary, as_of_position: questioner.countedPosition });
      else printResult(formatSummary(summary, questioner.countedPosition));
      return;
    }
    case 'daily':
      return printDailyReport(questioner, { ...request, granularity: 'daily' }, json);
    case 'sessions':
      return printSessionsReport(questioner, { ...request, granularity: 'row' }, json);
  }
}

async function printDailyReport(questioner: AnalyticsReader, request: AnalyticsRequest, json: boolean): Promise<void> {
  const days: DayView[] = [];
  for await (const { data } of questioner.queryPages<DailyView>(request)) {
    if (!json) days.push(...data);
    else if (!(await printChunk(toJsonLines(data, questioner.countedPosition)))) return;
  }
  if (!json) printResult(formatDays(days, questioner.countedPosition));
}

async function printSessionsReport(
  questioner: AnalyticsReader,
  request: AnalyticsRequest,
  json: boolean,
): Promise<void> {
  let printed = 0;
  for await (const { data } of questioner.queryPages<RowsView>(request)) {
    if (data.length === 0) break;
    const lines = json ? toJsonLines(data, questioner.countedPosition) : formatSessions(data, printed === 0);
    if (!(await printChunk(lines))) return;
    printed += data.length;
  }
  if (!json)
    printNotice(
      `${printed === 0 ? 'There are no such sessions' : `${printed} sessions`}, ${formatAsOf(questioner.countedPosition)}.`,
    );
}

function toJsonLines(items: readonly object[], position: number): string {
  return items.map((item) => escapedJson({ ...item, as_of_position: position })).join('\n');
}

function findTenant(dataDir: string, { account: name, vertical: segment, mode }: AnalyticsReportOptions): Tenant {
  const vertical = servedVerticals.find((served) => served.segment === segment);
  if (vertical === undefined) throw new Error('commander let an unknown vertical through');
  const path = keyFilePath(dataDir);
  const keys = withKeyRegister(
    () => KeyRegistry.openExisting(path),
    (register) => register.list(),
  );
  const account = keys.find(({ accountName }) => accountName === name)?.account;
  if (account === undefined) {
    throw new CommandLineError('there is no account of this name; marketplace keys list shows them');
  }
  return { account, vertical, mode };
}

/** Counts the referrer tags of each account, vertical and mode. */
export async function printTagCounts(options: { readonly json?: true }): Promise<void> {
  const dataDir = readDataDir(readEnv());
  const keys = withKeyRegister(
    () => KeyRegistry.openExisting(keyFilePath(dataDir)),
    (register) => register.list(),
  );
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
    printNotice(
      `${rows.length === 0 ? 'There are no tags' : 'The tags are counted'} ${formatAsOf(analytics.projectedPosition)}.`,
    );
  });
}
