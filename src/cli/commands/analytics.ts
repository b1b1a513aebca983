import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import type { CohortFilter } from '../../analytics/analytics.ts';
import { isCorruptDatabaseError } from '../../analytics/analytics-database.ts';
import { rebuildAnalyticsStore } from '../../analytics/ledger-follower.ts';
import { ReadOnlyAnalytics } from '../../analytics/read-only-analytics.ts';
import { StoreVersionMismatchError } from '../../analytics/store-upgrades.ts';
import { bounds } from '../../bounds.ts';
import type { VerticalRegistry } from '../../catalogs/vertical-registry.ts';
import { loadConfig, readDataDir } from '../../config/config.ts';
import { daysSinceEpoch, parseIsoDate } from '../../domain/calendar.ts';
import { toEscapedJson } from '../../domain/text.ts';
import { type DataPaths, dataPaths } from '../../files/data-paths.ts';
import type { DayRange } from '../../operations/analytics-responses.ts';
import type { DailyFigures } from '../../operations/analytics-schemas.ts';
import {
  type AnalyticsPage,
  type AnalyticsPageRequest,
  queryAnalyticsSummary,
  readDailyFigures,
  readSessionRows,
  resolveDayRange,
} from '../../operations/query-analytics.ts';
import { assertLedgerEnd, assertLedgerStart, readFolderEvidence } from '../../server/check-data-folder.ts';
import { isReferrerTag } from '../../sessions/referrer-tags.ts';
import {
  type CommandDefinition,
  CommandLineError,
  createCommandGroup,
  createModeOption,
  createVerticalOption,
  defineCommand,
  exitCodes,
  parseAccountName,
  type TenantOptions,
} from '../command.ts';
import { readFolderClock } from '../folder-clock.ts';
import {
  type Column,
  formatFixedRows,
  formatTable,
  printChunk,
  printJson,
  printNotice,
  printResult,
} from '../output.ts';
import { runWithProgress } from '../progress-bar.ts';
import { formatDailyTable, formatLedgerPosition, formatSummary, sessionColumns } from './analytics-text.ts';
import { findTenant, listKeys } from './keys.ts';
import { checkLogWithProgress, resolveLogFolder, toLedgerEnd, withLockedDataFolder } from './log-folder.ts';
import { findShardFolders } from './shard-folders.ts';

type AnalyticsReportKind = 'summary' | 'daily' | 'sessions';

const metricMembers =
  'sessions_total, marketplace_views, offer_clicks, click_rate, rev_attributed, rev_confirmed, rev_per_session';

const reportDefinitions: Readonly<Record<AnalyticsReportKind, CommandDefinition>> = {
  summary: {
    summary: 'print the totals of a referrer tag',
    description: 'Prints the totals of one referrer tag, with the same figures as GET /analytics.',
    examples: [
      'marketplace analytics summary --account acme --tag hero-short-form',
      'marketplace analytics summary --account acme --tag hero-short-form --from 2026-11-01 --to 2026-11-30 --json | jq .rev_confirmed',
    ],
    json:
      'one object: the response of the API (docs/api.md) and the position in the ledger: ' +
      `referrer_tag, ${metricMembers}, top_lenders, granularity, date_from, date_to, sessions_kept_from, ids_outside_dates, ` +
      'bot_sessions, matured, matured_from, matured_to, sessions_matured, rev_per_session_matured, rev_per_session_ci95, by_device, ' +
      'clicks_not_booked, widget_events, ' +
      'as_of, as_of_position',
  },
  daily: {
    summary: 'print the figures of a referrer tag by day',
    description: 'Prints the figures of one referrer tag by the UTC day on which its sessions were created.',
    examples: [
      'marketplace analytics daily --account acme --tag hero-short-form',
      'marketplace analytics daily --account acme --tag hero-short-form --from 2026-01-01 --json | jq -r .date',
    ],
    json: `one object per line and day, as in the API (docs/api.md): date, ${metricMembers}, clicks_not_booked, widget_events, matured, as_of_position`,
  },
  sessions: {
    summary: 'print the sessions of a referrer tag',
    description:
      'Prints the sessions of one referrer tag in the order of their creation. The command reads page by page, so while a server runs, later pages may count more events than earlier pages.',
    examples: [
      'marketplace analytics sessions --account acme --tag hero-short-form --from 2026-01-01',
      `marketplace analytics sessions --account acme --tag hero-short-form --json | jq -r 'select(.rev_confirmed > 0) | .sub_id'`,
    ],
    json:
      'one object per line and session, as in the API (docs/api.md): sub_id, referrer_tag, created_at, sandbox, device, metadata, ' +
      'marketplace_views, offer_clicks, rev_attributed, rev_confirmed, last_event_at, lenders, as_of_position',
  },
};

function analyticsReportCommand(kind: AnalyticsReportKind, { verticals }: VerticalRegistry): Command {
  const { description, ...definition } = reportDefinitions[kind];
  return defineCommand(kind, {
    ...definition,
    description: `${description} The command reads the analytics store of the data folder, also while a server runs, and prints the position of the last counted ledger record. The newest events may not be counted yet.`,
  })
    .requiredOption('--account <name>', 'account of the sessions', parseAccountName)
    .requiredOption('--tag <tag>', 'referrer tag of the sessions', parseReferrerTag)
    .addOption(createVerticalOption('vertical of the sessions', verticals).default(verticals[0], verticals[0]!.segment))
    .addOption(createModeOption('sessions of live keys or of test keys').default('live'))
    .option(
      '--from <date>',
      `first UTC day on which the sessions were created (default: ${bounds.analyticsDefaultDays} days before today, or before an earlier --to)`,
      parseDate,
    )
    .option('--to <date>', 'last UTC day on which the sessions were created (default: today)', parseDate)
    .action((options: AnalyticsReportOptions) => printAnalyticsReport(kind, options));
}

function parseReferrerTag(text: string): string {
  if (isReferrerTag(text)) return text;
  throw new InvalidArgumentError(
    'The referrer tag must have 3 to 64 lower-case letters, digits, underscores or hyphens.',
  );
}

/** Parses a date like 2026-11-21 and returns its day number. */
function parseDate(text: string): number {
  const day = parseIsoDate(text);
  if (day !== null) return day;
  throw new InvalidArgumentError('The value must be a date like 2026-11-21.');
}

export function createCommand(registry: VerticalRegistry): Command {
  return createCommandGroup(
    'analytics',
    'Reads the analytics store of the data folder (SVC_DATA_DIR, or ./data), also while a server runs, and rebuilds it.',
    [
      analyticsReportCommand('summary', registry),
      analyticsReportCommand('daily', registry),
      analyticsReportCommand('sessions', registry),
      tagsCommand(registry),
      rebuildCommand(),
    ],
  );
}

function tagsCommand(registry: VerticalRegistry): Command {
  return defineCommand('tags', {
    summary: 'count the referrer tags of each account',
    description:
      'Counts the different referrer tags of each account, vertical and mode, which SVC_LIMIT_REFERRER_TAGS limits; marketplace tags lists ' +
      'the tags of one account. The highest count is printed first. Tags remain counted when the retention deletes their sessions. Reads the analytics store of the data folder, also ' +
      'while a server runs.',
    examples: [
      'marketplace analytics tags',
      `marketplace analytics tags --json | jq -r '.[] | select(.tags > 50000) | .account'`,
    ],
    json:
      'array with one object per account, vertical and mode, the highest count first: account, vertical, mode, tags, ' +
      'as_of_position',
  }).action((options: { readonly json?: true }) => printTagCounts(registry, options));
}

function rebuildCommand(): Command {
  return defineCommand('rebuild', {
    summary: 'rebuild the analytics store from the ledger',
    description:
      'Verifies the ledger, computes all figures from its records and from the archived figures of days whose records the retention ' +
      'deleted (SVC_RETENTION_DAYS), and replaces the analytics store. The service must be stopped. A rebuild is seldom needed: the ' +
      'service rebuilds a store that is damaged, missing or of another version at its start. If the command is killed, run the command again.',
    examples: [
      'marketplace analytics rebuild',
      'SVC_DATA_DIR=/backup/data marketplace analytics rebuild --json | jq .left_out',
    ],
    exitCodes: { 3: 'the ledger is damaged; the store is unchanged', 130: null },
    json: 'one object for each shard: store, replaced, records, left_out, missing, tail_bytes',
  }).action(rebuildAnalytics);
}

/** Opens the analytics store of a data folder for reading and runs a function on the store. A server may use the store at the same time. */
export async function withStoredAnalytics(
  dataDir: string,
  run: (analytics: ReadOnlyAnalytics) => void | Promise<void>,
): Promise<void> {
  const { analyticsStoreFile } = dataPaths(dataDir);
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
    if (!(error instanceof StoreVersionMismatchError) && !isCorruptDatabaseError(error)) throw error;
    const remedy = 'start the service, which updates or rebuilds it, or run marketplace analytics rebuild';
    throw new CommandLineError(`${analyticsStoreFile} cannot be read (${error.message}): ${remedy}`, { cause: error });
  }
}

interface AnalyticsReportOptions extends TenantOptions {
  readonly tag: string;
  /** First and last day of the report, as numbers of days since the Unix epoch. */
  readonly from?: number;
  readonly to?: number;
}

/** Prints a report from the analytics store of the data folder, with the same figures as `GET /analytics`. */
async function printAnalyticsReport(kind: AnalyticsReportKind, options: AnalyticsReportOptions): Promise<void> {
  const dataDir = readDataDir();
  const { tenant, tenantDir } = findTenant(dataDir, options);
  const filter: CohortFilter = { ...tenant, referrerTag: options.tag, subs: null };
  const today = daysSinceEpoch(readFolderClock(dataDir).wallMs());
  const range = resolveDayRange({ from: options.from, to: options.to }, today);
  if (range === null) throw new CommandLineError('--from must not be after --to', { exitCode: exitCodes.usage });
  const json = options.json ?? false;
  await withStoredAnalytics(tenantDir, async (analytics) => {
    if (kind === 'daily') return printDailyReport(analytics, filter, range, today, json);
    if (kind === 'sessions') {
      const pages = readPages(filter, range, (page) => readSessionRows(analytics, page));
      return printPages(pages, analytics, { json, columns: sessionColumns, itemName: 'session' });
    }
    const undated = options.from === undefined && options.to === undefined;
    const { summary, tagHasSessions } = await queryAnalyticsSummary(analytics, filter, { ...range, undated, today });
    if (json) printJson({ ...summary, as_of_position: analytics.appliedPosition });
    else printResult(formatSummary(summary, analytics.appliedPosition, tagHasSessions));
  });
}

async function printDailyReport(
  analytics: ReadOnlyAnalytics,
  filter: CohortFilter,
  range: DayRange,
  today: number,
  json: boolean,
): Promise<void> {
  const days: DailyFigures[] = [];
  for await (const items of readPages(filter, range, (page) => readDailyFigures(analytics, page, today))) {
    if (!json) days.push(...items);
    else if (!(await printChunk(toJsonLines(items, analytics.appliedPosition)))) return;
  }
  if (!json) printResult(formatDailyTable(days, analytics.appliedPosition));
}

/** Prints pages of items, and then the number of items. Stops if the reader of standard output has closed the pipe. */
export async function printPages<Item extends object>(
  pages: AsyncIterable<readonly Item[]>,
  analytics: Pick<ReadOnlyAnalytics, 'appliedPosition'>,
  options: { readonly json: boolean; readonly columns: readonly Column<Item>[]; readonly itemName: string },
): Promise<void> {
  const { json, columns, itemName } = options;
  let printed = 0;
  for await (const items of pages) {
    if (items.length === 0) continue;
    const lines = json ? toJsonLines(items, analytics.appliedPosition) : formatFixedRows(columns, items, printed === 0);
    if (!(await printChunk(lines))) return;
    printed += items.length;
  }
  if (json) return;
  const count = printed === 0 ? `No ${itemName}s found` : `${printed} ${printed === 1 ? itemName : `${itemName}s`}`;
  printNotice(`${count}, ${formatLedgerPosition(analytics.appliedPosition)}.`);
}

async function* readPages<Item>(
  filter: CohortFilter,
  range: DayRange,
  readPage: (page: AnalyticsPageRequest) => Promise<AnalyticsPage<Item>>,
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
  return items.map((item) => toEscapedJson({ ...item, as_of_position: position })).join('\n');
}

async function printTagCounts(registry: VerticalRegistry, options: { readonly json?: true }): Promise<void> {
  const dataDir = readDataDir();
  const keys = listKeys(dataDir);
  const counts: TagCountRow[] = [];
  const positions: string[] = [];
  for (const folder of findShardFolders(dataDir)) {
    await withStoredAnalytics(folder, async (analytics) => {
      const tagCounts = await analytics.countReferrerTags();
      positions.push(formatLedgerPosition(analytics.appliedPosition));
      for (const [account, vertical, test, tags] of tagCounts) {
        counts.push({
          account: keys.find((key) => key.account === account)?.accountName ?? null,
          vertical: registry.verticals.find(({ number }) => number === vertical)?.segment ?? null,
          mode: test === 1 ? 'test' : 'live',
          tags,
          as_of_position: analytics.appliedPosition,
        });
      }
    });
  }
  counts.sort((one, other) => other.tags - one.tags);
  if (options.json) {
    printJson(counts);
    return;
  }
  const rows = counts.map(({ account, vertical, mode, tags }) => [account ?? '-', vertical ?? '-', mode, String(tags)]);
  if (rows.length > 0) printResult(formatTable(['ACCOUNT', 'VERTICAL', 'MODE', 'TAGS'], rows));
  const asOf = positions.join('; ');
  printNotice(rows.length === 0 ? `No tags found, ${asOf}.` : `Counts are ${asOf}.`);
}

interface TagCountRow {
  readonly account: string | null;
  readonly vertical: string | null;
  readonly mode: 'live' | 'test';
  readonly tags: number;
  readonly as_of_position: number;
}

/** Builds new analytics stores from the ledgers of all shards, and replaces the old stores. Requires that no server uses the data folder. */
async function rebuildAnalytics(options: { readonly json?: true }): Promise<void> {
  const dataDir = dirname(resolveLogFolder(undefined));
  await withLockedDataFolder(dataDir, { yes: true }, async () => {
    for (const folder of findShardFolders(dataDir)) await rebuildShardAnalytics(dataPaths(folder), options);
  });
}

async function rebuildShardAnalytics(
  { ledgerFolder, analyticsStoreFile: store }: DataPaths,
  options: { readonly json?: true },
): Promise<void> {
  const replaced = existsSync(store);
  const missing: string[] = [];
  const { records, leftOut, tornBytes } = await rebuildFromLedger(ledgerFolder, options, missing);
  if (options.json) {
    printJson({ store, replaced, records, left_out: leftOut, missing, tail_bytes: tornBytes });
    return;
  }
  if (tornBytes > 0) {
    printNotice(
      `The ledger ends with ${tornBytes} bytes of an incomplete record; the next start of the service moves them to a file.`,
    );
  }
  for (const sentence of missing) printNotice(`marketplace: ${sentence}; the figures leave them out`);
  printResult(`${replaced ? 'rebuilt' : 'built'} ${store} from ${records} records`);
  for (const [reason, count] of Object.entries(leftOut))
    if (count > 0) printNotice(`  ${count} not counted: ${reason}`);
}

async function rebuildFromLedger(ledgerFolder: string, output: { readonly json?: true }, missing: string[]) {
  const evidence = readFolderEvidence(dirname(ledgerFolder), { readonly: false });
  assertLedgerStart(evidence, { keepsStore: false });
  const check = await checkLogWithProgress(ledgerFolder, output);
  const { damage, position, records, tornBytes } = check;
  if (damage !== null) throw damage;
  assertLedgerEnd(evidence, toLedgerEnd(check), loadConfig().config.durability);
  const { records: counted, ...leftOut } = await runWithProgress(
    output,
    { total: records, unit: 'records' },
    (onProgress, signal) =>
      rebuildAnalyticsStore({
        files: dataPaths(dirname(ledgerFolder)),
        upToPosition: position,
        onProgress,
        onMissingRecords: (sentence) => missing.push(sentence),
        signal,
      }),
  );
  return { records: counted, leftOut, tornBytes };
}
