import { randomBytes } from 'node:crypto';
import { keyFilePath } from '../access/key-file.ts';
import { KeyRegister } from '../access/key-register.ts';
import { PageCursors } from '../analytics/page-cursors.ts';
import type { StoredAnalytics } from '../analytics/stored-analytics.ts';
import { dataDirOf } from '../config/config.ts';
import { readEnv } from '../config/env.ts';
import { systemClock } from '../domain/clock.ts';
import type { Mode } from '../domain/mode.ts';
import { jsonText } from '../domain/plain-text.ts';
import type { DailyView, DayView, RowsView, SummaryView } from '../operations/analytics-views.ts';
import { type AnalyticsRequest, queryAnalytics } from '../operations/query-analytics.ts';
import { RandomPool } from '../secrets/random-pool.ts';
import { SecretRing } from '../secrets/secret-ring.ts';
import { SubIds } from '../sessions/sub-id.ts';
import { servedVerticals } from '../verticals/served-verticals.ts';
import type { Tenant } from '../verticals/tenant.ts';
import type { AnalyticsQuery } from './analytics-query-command.ts';
import { asOf, daysText, sessionLines, summaryText } from './analytics-text.ts';
import { CommandLineError } from './command-line-error.ts';
import { exitCodes } from './exit-codes.ts';
import { printJson, printPart, printResult, say } from './output.ts';
import { withKeyRegister } from './with-key-register.ts';
import { withStoredAnalytics } from './with-stored-analytics.ts';

export interface AnalyticsQueryOptions {
  readonly account: string;
  readonly tag: string;
  readonly vertical: string;
  readonly mode: Mode;
  readonly from?: string;
  readonly to?: string;
  readonly json?: true;
}

/** Answers by the very operation behind GET /analytics, from the store of the data folder. */
export async function askAnalytics(query: AnalyticsQuery, options: AnalyticsQueryOptions): Promise<void> {
  const dataDir = dataDirOf(readEnv());
  const tenant = tenantOf(dataDir, options);
  const request = { referrer_tag: options.tag, date_from: options.from, date_to: options.to };
  await withStoredAnalytics(dataDir, (analytics) =>
    answer(query, new Questioner(analytics, tenant), request, options.json ?? false),
  );
}

/** Asks for one tenant, and knows up to which record the last answer counts. */
class Questioner {
  readonly #analytics: StoredAnalytics;
  readonly #tenant: Tenant;
  /** Ids and cursors are those of this command alone: no secret of the service is needed. */
  readonly #secrets = new SecretRing([{ number: 1, bytes: randomBytes(32) }]);
  readonly #ports;

  constructor(analytics: StoredAnalytics, tenant: Tenant) {
    this.#analytics = analytics;
    this.#tenant = tenant;
    this.#ports = {
      clock: systemClock,
      subIds: new SubIds(this.#secrets, 0, new RandomPool()),
      analytics,
      pageCursors: new PageCursors(this.#secrets),
    };
  }

  get position(): number {
    return this.#analytics.foldedPosition;
  }

  async ask<View extends SummaryView | DailyView | RowsView>(request: AnalyticsRequest): Promise<View> {
    const outcome = await queryAnalytics(this.#ports, this.#tenant, request);
    if (outcome.ok) return outcome.value as View;
    // All else was checked with the options.
    throw new CommandLineError('--from must not be after --to', { exitCode: exitCodes.usage });
  }

  /** Page after page. */
  async *pages<View extends DailyView | RowsView>(request: AnalyticsRequest): AsyncGenerator<View, void> {
    let cursor: string | null | undefined;
    while (cursor !== null) {
      const page: View = await this.ask<View>({ ...request, cursor });
      yield page;
      cursor = page.next_cursor;
    }
  }
}

async function answer(
  query: AnalyticsQuery,
  questioner: Questioner,
  request: AnalyticsRequest,
  json: boolean,
): Promise<void> {
  switch (query) {
    case 'summary': {
      const summary = await questioner.ask<SummaryView>(request);
      if (json) printJson({ ...summary, as_of_position: questioner.position });
      else printResult(summaryText(summary, questioner.position));
      return;
    }
    case 'daily':
      return printDays(questioner, { ...request, granularity: 'daily' }, json);
    case 'sessions':
      return printSessions(questioner, { ...request, granularity: 'row' }, json);
  }
}

async function printDays(questioner: Questioner, request: AnalyticsRequest, json: boolean): Promise<void> {
  const days: DayView[] = [];
  for await (const { data } of questioner.pages<DailyView>(request)) {
    if (!json) days.push(...data);
    else if (!(await printPart(linesOf(data, questioner.position)))) return;
  }
  if (!json) printResult(daysText(days, questioner.position));
}

async function printSessions(questioner: Questioner, request: AnalyticsRequest, json: boolean): Promise<void> {
  let printed = 0;
  for await (const { data } of questioner.pages<RowsView>(request)) {
    if (data.length === 0) break;
    const lines = json ? linesOf(data, questioner.position) : sessionLines(data, printed === 0);
    if (!(await printPart(lines))) return;
    printed += data.length;
  }
  if (!json)
    say(`${printed === 0 ? 'There are no such sessions' : `${printed} sessions`}, ${asOf(questioner.position)}.`);
}

function linesOf(items: readonly object[], position: number): string {
  return items.map((item) => jsonText({ ...item, as_of_position: position })).join('\n');
}

function tenantOf(dataDir: string, { account: name, vertical: segment, mode }: AnalyticsQueryOptions): Tenant {
  const vertical = servedVerticals.find((served) => served.segment === segment);
  if (vertical === undefined) throw new Error('commander let an unknown vertical through');
  const path = keyFilePath(dataDir);
  const keys = withKeyRegister(
    () => KeyRegister.openExisting(path),
    (register) => register.list(),
  );
  const account = keys.find(({ accountName }) => accountName === name)?.account;
  if (account === undefined) {
    throw new CommandLineError('there is no account of this name; marketplace keys list shows them');
  }
  return { account, vertical, mode };
}
