import Type from 'typebox';
import type { Analytics, CohortFilter, OffersQuery, QueryCoverage } from '../analytics/analytics.ts';
import { AnalyticsUnavailableError, type SessionOrder, sessionOrders } from '../analytics/analytics.ts';
import { lastMaturedCohortDay } from '../analytics/counting-rules.ts';
import { bounds } from '../bounds.ts';
import type { CatalogStore } from '../catalogs/catalog-store.ts';
import type { CancelSignal } from '../domain/async.ts';
import { daysSinceEpoch, formatIsoDate, parseIsoDate } from '../domain/calendar.ts';
import type { Clock } from '../domain/clock.ts';
import { invalidRequest, type Outcome, serviceUnavailable, successOutcome } from '../domain/outcome.ts';
import type { Tenant } from '../domain/tenant.ts';
import type { PageCursors, PageKind, PagePosition } from '../ids/cursors.ts';
import { belongsToTenant, decodeSubId, type SubIds } from '../ids/sub-id.ts';
import {
  type DayRange,
  formatDateRange,
  toDayView,
  toOfferView,
  toSessionRowView,
  toSummaryView,
} from './analytics-responses.ts';
import {
  type AnalyticsSummary,
  analyticsRowsSchema,
  analyticsSummarySchema,
  type DailyAnalytics,
  type DailyFigures,
  dailyAnalyticsSchema,
  daySchema,
  type OfferAnalytics,
  offerAnalyticsSchema,
  offerFiguresSchema,
  rowSchema,
  type SessionFigures,
  type SessionRowsResponse,
} from './analytics-schemas.ts';
import { defineOperation, reportIgnoredParameters } from './api-operation.ts';
import { listCsvColumns } from './csv-table.ts';
import { type IgnoredParameters, isoDateSchema, referrerTagSchema, stringEnum } from './schema-parts.ts';

export interface QueryAnalyticsDeps {
  readonly clock: Clock;
  readonly subIds: SubIds;
  readonly analytics: Analytics;
  readonly pageCursors: PageCursors;
  readonly catalogs: Pick<CatalogStore, 'currentCatalog'>;
}

export type AnalyticsResponse = AnalyticsSummary | DailyAnalytics | SessionRowsResponse | OfferAnalytics;

export const pageLimitSchema = Type.Integer({
  minimum: 1,
  maximum: bounds.analyticsPageItemsMax,
  default: bounds.analyticsPageItemsMax,
});

/** Parameter of lists, which leaves out entries of the past. Days end with today (UTC). */
export const recentDaysSchema = Type.Optional(Type.Integer({ minimum: 1, maximum: bounds.recentDaysMax }));

const csvColumns = {
  daily: listCsvColumns(daySchema),
  row: listCsvColumns(rowSchema),
  offer: listCsvColumns(offerFiguresSchema),
} as const;

const isIsoDate = (text: unknown) => parseIsoDate(text as string) !== null;

/**
 * GET /analytics (docs/contract.md#analytics): returns figures of sessions. The request selects the sessions by a referrer tag, by a list
 * of sub_ids, or by both. The result is one summary, or a page of days or sessions.
 */
export const queryAnalytics = defineOperation({
  id: 'queryAnalytics',
  method: 'GET',
  path: '/analytics',
  limit: 'analytics',
  scope: 'analytics',
  summary: 'Query analytics',
  description:
    'Sessions, views, clicks and revenue of a referrer tag or of a list of sessions, including every earlier response.',
  parameters: {
    referrer_tag: {
      description: 'The referrer tag. Required without `sub_id_list`; with it, both filters apply.',
      schema: Type.Optional(referrerTagSchema),
      requiredWithout: 'sub_id_list',
      errorCode: 'INVALID_REFERRER_TAG',
    },
    sub_id_list: {
      description: 'Ids of sessions, also of expired ones. Other ids are ignored.',
      // Any string is allowed as a sub_id, because invalid sub_ids are ignored.
      schema: Type.Optional(Type.Array(Type.String(), { minItems: 1, maxItems: bounds.subIdListMax })),
    },
    granularity: {
      description: 'One record in total, per day, per session, or per shown offer (not with `sub_id_list`).',
      schema: stringEnum(['summary', 'daily', 'row', 'offer'], { default: 'summary' }),
    },
    date_to: {
      description: 'The last day, inclusive; by default today.',
      schema: Type.Optional(isoDateSchema('The last day.')),
      accepts: isIsoDate,
    },
    date_from: {
      description: `The first day, UTC; by default ${bounds.analyticsDefaultDays} days before today, or before an earlier \`date_to\`. All figures of a session count on the day of its creation.`,
      schema: Type.Optional(isoDateSchema('The first day.')),
      accepts: isIsoDate,
    },
    order: {
      description: 'The order of sessions by their creation; only with `row`. By default the oldest first.',
      schema: Type.Optional(stringEnum(sessionOrders)),
    },
    limit: {
      description: 'Maximum number of days, sessions or offers; not with `summary`.',
      schema: Type.Optional(pageLimitSchema),
    },
    cursor: {
      description: 'The `next_cursor` of the previous page, with the same filters; not with `summary`.',
      schema: Type.Optional(Type.String()),
    },
  },
  response: {
    description: 'The summary, or a page of days, sessions or offers.',
    schema: Type.Union([analyticsSummarySchema, dailyAnalyticsSchema, analyticsRowsSchema, offerAnalyticsSchema]),
    examples: {
      summary: { summary: 'granularity=summary', recorded: 'summary' },
      daily: { summary: 'granularity=daily', recorded: 'daily' },
      row: { summary: 'granularity=row', recorded: 'rows' },
      offer: { summary: 'granularity=offer', recorded: 'offerFigures' },
    },
    csv: {
      description: 'A page of days, sessions or offers, one line each. A summary is always JSON.',
      examples: {
        daily: { summary: 'granularity=daily', recorded: 'dailyCsv' },
        row: { summary: 'granularity=row', recorded: 'rowsCsv' },
        offer: { summary: 'granularity=offer', recorded: 'offerFiguresCsv' },
      },
    },
  },
  errors: [],
  invalidParamExample: 'date_from',
  async handle(deps: QueryAnalyticsDeps, input, { caller, signal }): Promise<Outcome<AnalyticsResponse>> {
    const { referrer_tag: referrerTag = null, sub_id_list: subIds, granularity, order } = input;
    if (order !== undefined && granularity !== 'row') return invalidRequest('order');
    const dates = { from: parseDay(input.date_from), to: parseDay(input.date_to) };
    const today = daysSinceEpoch(deps.clock.wallMs());
    const filter: CohortFilter = {
      account: caller.account,
      vertical: caller.vertical.number,
      mode: caller.mode,
      referrerTag,
      subs: subIds === undefined ? null : selectOwnSubIds(deps.subIds, caller, subIds),
    };

    if (granularity === 'summary') {
      // The parameters `limit` and `cursor` are rejected, because a summary has no pages.
      if (input.limit !== undefined) return invalidRequest('limit');
      if (input.cursor !== undefined) return invalidRequest('cursor');
      const window = resolveDayRange(dates, today);
      if (window === null) return invalidRequest('date_from');
      const undated = dates.from === undefined && dates.to === undefined;
      return refuseIfUnavailable(async () => {
        const range = { ...window, undated, today };
        const { summary, tagHasSessions } = await queryAnalyticsSummary(deps.analytics, filter, range, signal);
        return reportTagWithoutSessions(summary, filter, tagHasSessions);
      });
    }

    if (granularity === 'offer') {
      if (referrerTag === null) return invalidRequest('referrer_tag', offersWithTagRule);
      if (filter.subs !== null) return invalidRequest('sub_id_list', offersWithoutIdsRule);
      const offersFilter = { ...filter, referrerTag, subs: null };
      return queryOffers(deps, { filter: offersFilter, dates, today, input, caller, signal });
    }

    const kind = order === 'newest' ? 'newest-row' : granularity;
    let position: PagePosition;
    if (input.cursor === undefined) {
      const window = resolveDayRange(dates, today);
      if (window === null) return invalidRequest('date_from');
      position = { ...window, after: 0 };
    } else {
      const verified = deps.pageCursors.verify(kind, filter, input.cursor);
      if (verified === null || !datesMatchCursor(dates, verified)) return invalidRequest('cursor');
      position = verified;
    }
    const page = { filter, position, limit: input.limit ?? bounds.analyticsPageItemsMax, signal };
    return refuseIfUnavailable(async () =>
      granularity === 'daily'
        ? toSignedPageView(deps, page, { granularity, kind }, await readDailyFigures(deps.analytics, page, today))
        : toSignedPageView(deps, page, { granularity, kind }, await readSessionRows(deps.analytics, page, order)),
    );
  },
  createCsvPage(response) {
    if (response.granularity === 'summary') return null;
    const { granularity, data, next_cursor: nextCursor } = response;
    return { columns: csvColumns[granularity], rows: data, nextCursor };
  },
});

const offersWithTagRule =
  'is required with granularity=offer, without sub_id_list, because offers are counted for each referrer_tag';
const offersWithoutIdsRule = 'must be absent with granularity=offer, because offers are counted for each referrer_tag';

interface OffersRequest {
  readonly filter: CohortFilter & Pick<OffersQuery, 'referrerTag' | 'subs'>;
  readonly dates: RequestedDates;
  readonly today: number;
  readonly input: { readonly limit?: number | undefined; readonly cursor?: string | undefined };
  readonly caller: Tenant;
  readonly signal: CancelSignal | null;
}

/** Returns a page of the offers that were shown to the sessions of a tag (docs/contract.md#offers). */
async function queryOffers(
  { analytics, catalogs, pageCursors }: QueryAnalyticsDeps,
  { filter, dates, today, input, caller, signal }: OffersRequest,
): Promise<Outcome<OfferAnalytics>> {
  const { cursor, limit = bounds.analyticsPageItemsMax } = input;
  const verified = cursor === undefined ? null : pageCursors.verifyOfferCursor(filter, cursor);
  if (cursor !== undefined && (verified === null || !datesMatchCursor(dates, verified)))
    return invalidRequest('cursor');
  const window = verified ?? resolveDayRange(dates, today);
  if (window === null) return invalidRequest('date_from');
  const { fromDay, toDay } = window;
  return refuseIfUnavailable(async () => {
    const query = { ...filter, fromDay, toDay, afterOfferId: verified?.afterOfferId ?? '', limit };
    const { offers, nextAfterOfferId, offersFromDay, ...coverage } = await analytics.listOffers(query, signal);
    const catalog = catalogs.currentCatalog(caller.vertical.number, caller.mode);
    const view: OfferAnalytics = {
      referrer_tag: filter.referrerTag,
      granularity: 'offer',
      ...formatDateRange(window, coverage.retainedFromDay),
      offers_counted_from: offersFromDay === 0 ? null : formatIsoDate(offersFromDay),
      data: offers.map((offer) => {
        const { lenderName = offer.lender } = catalog.offers[catalog.findOfferIndex(offer.offerId)] ?? {};
        return toOfferView(offer, lenderName);
      }),
      has_more: nextAfterOfferId !== null,
      next_cursor:
        nextAfterOfferId === null
          ? null
          : pageCursors.createOfferCursor(filter, { fromDay, toDay, afterOfferId: nextAfterOfferId }),
    };
    return reportTagWithoutSessions(view, filter, coverage.tagHasSessions);
  });
}

function toSignedPageView<Granularity extends 'daily' | 'row', Item>(
  { pageCursors }: QueryAnalyticsDeps,
  { filter, position }: AnalyticsPageRequest,
  { granularity, kind }: { readonly granularity: Granularity; readonly kind: PageKind },
  { items, retainedFromDay, tagHasSessions, nextAfter }: AnalyticsPage<Item>,
) {
  const view = {
    referrer_tag: filter.referrerTag,
    granularity,
    ...formatDateRange(position, retainedFromDay),
    data: items,
    has_more: nextAfter !== null,
    next_cursor: nextAfter === null ? null : pageCursors.createCursor(kind, filter, { ...position, after: nextAfter }),
  };
  return reportTagWithoutSessions(view, filter, tagHasSessions);
}

/** For test keys, lists `referrer_tag` as ignored if no session ever had the tag, because the tag may be misspelt. */
function reportTagWithoutSessions<View extends object>(
  view: View & IgnoredParameters,
  { mode }: CohortFilter,
  tagHasSessions: boolean,
): View & IgnoredParameters {
  return mode === 'test' && !tagHasSessions ? reportIgnoredParameters(view, ['referrer_tag']) : view;
}

/**
 * Reads the summary of the sessions created from `fromDay` to `toDay`. For a request without dates (`undated`), the matured figures start
 * earlier than the other figures: `bounds.maturedDefaultDays` days before today. `tagHasSessions` is false if no session of the tenant ever
 * had the tag.
 */
export async function queryAnalyticsSummary(
  analytics: Pick<Analytics, 'getSummary'>,
  filter: CohortFilter,
  { fromDay, toDay, undated, today }: DayRange & { readonly undated: boolean; readonly today: number },
  signal: CancelSignal | null = null,
): Promise<{ readonly summary: AnalyticsSummary; readonly tagHasSessions: boolean }> {
  const maturedFromDay = undated ? today - bounds.maturedDefaultDays : fromDay;
  const maturedWindow = { fromDay: maturedFromDay, toDay: Math.min(toDay, lastMaturedCohortDay(today)) };
  const figures = await analytics.getSummary({ ...filter, fromDay, toDay, today, maturedFromDay }, signal);
  const summary = toSummaryView(filter.referrerTag, { fromDay, toDay }, maturedWindow, figures);
  return { summary, tagHasSessions: figures.tagHasSessions };
}

export interface AnalyticsPageRequest {
  readonly filter: CohortFilter;
  readonly position: PagePosition;
  readonly limit: number;
  readonly signal: CancelSignal | null;
}

/** One page of items. `nextAfter` is the position after which the next page starts, or null on the last page. */
export interface AnalyticsPage<Item> extends QueryCoverage {
  readonly items: readonly Item[];
  readonly nextAfter: number | null;
}

/** Reads one page of days. The query covers only the days of the page, even if the requested range is longer. */
export async function readDailyFigures(
  analytics: Pick<Analytics, 'listDailyAnalytics'>,
  { filter, position, limit, signal }: AnalyticsPageRequest,
  today: number,
): Promise<AnalyticsPage<DailyFigures>> {
  const fromDay = position.fromDay + position.after;
  const toDay = Math.min(fromDay + limit - 1, position.toDay);
  const { days, ...coverage } = await analytics.listDailyAnalytics({ ...filter, fromDay, toDay, today }, signal);
  const nextAfter = toDay < position.toDay ? toDay + 1 - position.fromDay : null;
  return { items: days.map(toDayView), ...coverage, nextAfter };
}

/** Reads one page of sessions. */
export async function readSessionRows(
  analytics: Pick<Analytics, 'listSessions'>,
  { filter, position, limit, signal }: AnalyticsPageRequest,
  order: SessionOrder = 'oldest',
): Promise<AnalyticsPage<SessionFigures>> {
  const { fromDay, toDay, after: afterPosition } = position;
  const query = { ...filter, fromDay, toDay, order, afterPosition, limit };
  const { rows, nextAfterPosition, ...coverage } = await analytics.listSessions(query, signal);
  return { items: rows.map(toSessionRowView), ...coverage, nextAfter: nextAfterPosition };
}

/** Runs a query. Returns SERVICE_UNAVAILABLE while the analytics are unavailable. */
export async function refuseIfUnavailable<View>(query: () => Promise<View>): Promise<Outcome<View>> {
  try {
    return successOutcome(await query());
  } catch (error) {
    if (error instanceof AnalyticsUnavailableError) return serviceUnavailable(bounds.retryAfterSeconds);
    throw error;
  }
}

/** Day numbers of the dates in the request; undefined for an absent date. */
type RequestedDates = Readonly<Record<'from' | 'to', number | undefined>>;

function parseDay(date: string | undefined): number | undefined {
  return date === undefined ? undefined : (parseIsoDate(date) ?? undefined);
}

/**
 * Returns the requested range of days; null if the first day would be after the last day. The last day defaults to today. The first day
 * defaults to 30 days before today, or before the last day if the range would otherwise be empty.
 */
export function resolveDayRange({ from, to }: RequestedDates, today: number): DayRange | null {
  const toDay = to ?? today;
  const defaultFromDay = today - bounds.analyticsDefaultDays;
  const fromDay = from ?? (toDay < defaultFromDay ? toDay - bounds.analyticsDefaultDays : defaultFromDay);
  return fromDay > toDay ? null : { fromDay, toDay };
}

/** Whether each date in the request equals the date in the page cursor. A request with a page cursor may omit the dates. */
function datesMatchCursor({ from, to }: RequestedDates, { fromDay, toDay }: DayRange): boolean {
  return (from === undefined || from === fromDay) && (to === undefined || to === toDay);
}

/** Returns the valid sub_ids of this tenant as bytes, without repeats. Invalid sub_ids and sub_ids of other tenants are ignored. */
function selectOwnSubIds(subIds: SubIds, tenant: Tenant, listed: readonly string[]): Uint8Array[] {
  const own: Uint8Array[] = [];
  for (const text of new Set(listed)) {
    const bytes = subIds.verify(text);
    if (bytes !== null && belongsToTenant(decodeSubId(bytes), tenant)) own.push(Uint8Array.from(bytes));
  }
  return own;
}
