import type { Analytics, CohortFilter } from '../analytics/analytics.ts';
import { AnalyticsUnavailableError } from '../analytics/analytics.ts';
import { lastMaturedCohortDay } from '../analytics/counting-rules.ts';
import { bounds } from '../bounds.ts';
import type { CancelSignal } from '../domain/async.ts';
import { dayOf, parseIsoDate } from '../domain/calendar.ts';
import type { Clock } from '../domain/clock.ts';
import { invalidRequest, type Outcome, refusedWith, succeeded, unavailable } from '../domain/outcome.ts';
import type { PageCursors, PagePosition } from '../ids/page-cursor.ts';
import { decodeSubId, isOwnedBy, type SubIds } from '../ids/sub-id.ts';
import { isReferrerTag } from '../sessions/referrer-tags.ts';
import type { Tenant } from '../verticals/tenant.ts';
import {
  type DailyView,
  type DayRange,
  type RowsView,
  type SummaryView,
  toDayView,
  toPageView,
  toRowView,
  toSummaryView,
} from './analytics-views.ts';

export interface QueryAnalyticsDeps {
  readonly clock: Clock;
  readonly subIds: SubIds;
  readonly analytics: Analytics;
  readonly pageCursors: PageCursors;
}

/** Query parameters as sent, undefined when absent (docs/contract.md#filters-and-dates). */
export interface AnalyticsRequest {
  readonly referrer_tag?: string | undefined;
  readonly sub_id_list?: string | undefined;
  readonly date_from?: string | undefined;
  readonly date_to?: string | undefined;
  readonly granularity?: string | undefined;
  readonly limit?: string | undefined;
  readonly cursor?: string | undefined;
}

export type AnalyticsView = SummaryView | DailyView | RowsView;

/**
 * GET /analytics (docs/contract.md#analytics): figures of a tag, of listed sessions, or of their intersection, as one summary or
 * as pages of days or sessions.
 */
export async function queryAnalytics(
  deps: QueryAnalyticsDeps,
  tenant: Tenant,
  request: AnalyticsRequest,
  signal: CancelSignal | null = null,
): Promise<Outcome<AnalyticsView>> {
  const { referrer_tag: referrerTag, sub_id_list: subIdList, granularity = 'summary' } = request;
  if (referrerTag === undefined && subIdList === undefined) return invalidRequest('referrer_tag');
  if (referrerTag !== undefined && !isReferrerTag(referrerTag)) return refusedWith('INVALID_REFERRER_TAG');
  const subIds = subIdList?.split(',');
  if (subIds !== undefined && subIds.length > bounds.subIdListMax) return invalidRequest('sub_id_list');
  if (granularity !== 'summary' && granularity !== 'daily' && granularity !== 'row') {
    return invalidRequest('granularity');
  }
  const dates = parseDates(request);
  if (typeof dates === 'string') return invalidRequest(dates);
  const today = dayOf(deps.clock.wallMs());
  const filter: CohortFilter = {
    account: tenant.account,
    vertical: tenant.vertical.number,
    mode: tenant.mode,
    referrerTag: referrerTag ?? null,
    subs: subIds === undefined ? null : selectOwnSubIds(deps.subIds, tenant, subIds),
  };

  if (granularity === 'summary') {
    // Rejected, because the caller expects only a part of the figures.
    if (request.limit !== undefined) return invalidRequest('limit');
    if (request.cursor !== undefined) return invalidRequest('cursor');
    const window = resolveDayRange(dates, today);
    if (window === null) return invalidRequest('date_from');
    const undated = dates.from === undefined && dates.to === undefined;
    const maturedFromDay = undated ? today - bounds.maturedDefaultDays : window.fromDay;
    const maturedWindow = { fromDay: maturedFromDay, toDay: Math.min(window.toDay, lastMaturedCohortDay(today)) };
    return refuseIfUnavailable(async () => {
      const figures = await deps.analytics.getSummary({ ...filter, ...window, today, maturedFromDay }, signal);
      return toSummaryView(filter.referrerTag, window, maturedWindow, figures);
    });
  }

  const limit = parseLimit(request.limit);
  if (limit === null) return invalidRequest('limit');
  let position: PagePosition;
  if (request.cursor === undefined) {
    const window = resolveDayRange(dates, today);
    if (window === null) return invalidRequest('date_from');
    position = { ...window, after: 0 };
  } else {
    const verified = deps.pageCursors.verify(granularity, filter, request.cursor);
    if (verified === null || !datesMatchCursor(dates, verified)) return invalidRequest('cursor');
    position = verified;
  }
  const page = { filter, position, limit, signal };
  return granularity === 'daily'
    ? refuseIfUnavailable(() => queryDays(deps, page, today))
    : refuseIfUnavailable(() => queryRows(deps, page));
}

interface PageRequest {
  readonly filter: CohortFilter;
  readonly position: PagePosition;
  readonly limit: number;
  readonly signal: CancelSignal | null;
}

/** Queries only the days of the page. */
async function queryDays(
  { analytics, pageCursors }: QueryAnalyticsDeps,
  { filter, position, limit, signal }: PageRequest,
  today: number,
): Promise<DailyView> {
  const fromDay = position.fromDay + position.after;
  const toDay = Math.min(fromDay + limit - 1, position.toDay);
  const { days, retainedFromDay } = await analytics.listDays({ ...filter, fromDay, toDay, today }, signal);
  const after = toDay + 1 - position.fromDay;
  const next = toDay < position.toDay ? pageCursors.issue('daily', filter, { ...position, after }) : null;
  return toPageView('daily', filter.referrerTag, { ...position, retainedFromDay }, days.map(toDayView), next);
}

async function queryRows(
  { analytics, pageCursors }: QueryAnalyticsDeps,
  { filter, position, limit, signal }: PageRequest,
): Promise<RowsView> {
  const { fromDay, toDay, after: afterPosition } = position;
  const { rows, retainedFromDay, nextAfterPosition } = await analytics.listRows(
    { ...filter, fromDay, toDay, afterPosition, limit },
    signal,
  );
  const cursor =
    nextAfterPosition === null ? null : pageCursors.issue('row', filter, { ...position, after: nextAfterPosition });
  return toPageView('row', filter.referrerTag, { ...position, retainedFromDay }, rows.map(toRowView), cursor);
}

async function refuseIfUnavailable<View>(query: () => Promise<View>): Promise<Outcome<View>> {
  try {
    return succeeded(await query());
  } catch (error) {
    if (error instanceof AnalyticsUnavailableError) return unavailable(bounds.retryAfterSeconds);
    throw error;
  }
}

/** Day numbers; undefined for an absent parameter. */
interface RequestedDates {
  readonly from: number | undefined;
  readonly to: number | undefined;
}

/** Returns the dates, or the name of the invalid parameter. */
function parseDates({ date_from, date_to }: AnalyticsRequest): RequestedDates | 'date_from' | 'date_to' {
  const to = date_to === undefined ? undefined : parseIsoDate(date_to);
  if (to === null) return 'date_to';
  const from = date_from === undefined ? undefined : parseIsoDate(date_from);
  if (from === null) return 'date_from';
  return { from, to };
}

/** Applies the defaults. Returns null if the first day is after the last. */
function resolveDayRange({ from, to }: RequestedDates, today: number): DayRange | null {
  const toDay = to ?? today;
  const fromDay = from ?? toDay - bounds.analyticsDefaultDays;
  return fromDay > toDay ? null : { fromDay, toDay };
}

/** Whether the dates equal those of the cursor; an absent date is valid. */
function datesMatchCursor({ from, to }: RequestedDates, { fromDay, toDay }: DayRange): boolean {
  return (from === undefined || from === fromDay) && (to === undefined || to === toDay);
}

/** Returns null for a text that is not an integer from 1 to `bounds.analyticsPageItemsMax`. */
function parseLimit(text: string | undefined): number | null {
  if (text === undefined) return bounds.analyticsPageItemsMax;
  if (!/^[1-9]\d{0,2}$/.test(text)) return null;
  const limit = Number(text);
  return limit <= bounds.analyticsPageItemsMax ? limit : null;
}

/** Returns the verified sub_ids of this tenant as bytes, without repeats, and ignores all other texts. */
function selectOwnSubIds(subIds: SubIds, tenant: Tenant, listed: readonly string[]): Uint8Array[] {
  const own: Uint8Array[] = [];
  for (const text of new Set(listed)) {
    const bytes = subIds.verify(text);
    if (bytes !== null && isOwnedBy(decodeSubId(bytes), tenant)) own.push(Uint8Array.from(bytes));
  }
  return own;
}
