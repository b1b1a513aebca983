import type {
  CohortMetrics,
  DayMetrics,
  LenderMetrics,
  SessionRow,
  SummaryResult,
  TagMetrics,
  UnbookedClickCounts,
  WidgetCounts,
} from '../analytics/analytics.ts';
import { formatIsoDate, formatIsoTimestamp } from '../domain/calendar.ts';
import { microsToUsd, roundHalfUp } from '../domain/money.ts';
import { decodeSubId, formatSubId } from '../ids/sub-id.ts';
import {
  deviceClasses,
  type UnbookedReason,
  unbookedReasons,
  type WidgetEventType,
  widgetEventTypes,
} from '../ledger/ledger-record.ts';
import { computeMeanInterval } from '../statistics/mean-interval.ts';
import type { IgnoredParameters } from './ignored-names.ts';

interface MetricsView {
  readonly sessions_total: number;
  readonly marketplace_views: number;
  readonly offer_clicks: number;
  readonly click_rate: number;
  readonly rev_attributed: number;
  readonly rev_confirmed: number;
  readonly rev_per_session: number;
}

interface LenderView {
  readonly lender: string;
  readonly clicks: number;
  readonly rev_confirmed: number;
}

/** Number of clicks that booked no revenue by reason (docs/contract.md#clicks-that-are-not-booked). */
type UnbookedClicksView = Readonly<Record<UnbookedReason, number>>;

/** Number of widget events by type (docs/contract.md#widget-events). Events of type `offer_click` do not count in `offer_clicks`. */
type WidgetEventsView = Readonly<Record<WidgetEventType, number>>;

/** Figures of the matured sessions (docs/contract.md#matured-figures). */
interface MaturedView {
  /** First and last day that the figures cover; null if no day is matured. */
  readonly from: string | null;
  readonly to: string | null;
  readonly sessions: number;
  /** Number of these sessions that have confirmed revenue; null if an earlier release archived one of the days. */
  readonly sessions_with_revenue: number | null;
  readonly rev_per_session: number | null;
  readonly ci95: { readonly low: number; readonly high: number } | null;
}

/** Summary of the sessions of a period (docs/contract.md#summary). */
export interface AnalyticsSummary extends MetricsView, IgnoredParameters {
  readonly referrer_tag: string | null;
  readonly top_lenders: readonly LenderView[];
  readonly granularity: 'summary';
  readonly date_from: string;
  readonly date_to: string;
  readonly ids_outside_dates: number;
  /** Number of sessions in `sessions_total` whose user agent declares a bot. */
  readonly bot_sessions: number;
  readonly matured: MaturedView;
  /** The next five members are equal to the members of `matured`. */
  readonly matured_from: MaturedView['from'];
  readonly matured_to: MaturedView['to'];
  readonly sessions_matured: MaturedView['sessions'];
  readonly rev_per_session_matured: MaturedView['rev_per_session'];
  readonly rev_per_session_ci95: MaturedView['ci95'];
  readonly by_device: Readonly<Partial<Record<(typeof deviceClasses)[number], MetricsView>>>;
  readonly clicks_not_booked: UnbookedClicksView;
  readonly widget_events: WidgetEventsView;
  /** First day whose sessions are retained. Deleted sessions count in figures by referrer tag, but not in rows or with `sub_id_list`. */
  readonly sessions_kept_from: string | null;
  readonly as_of: string | null;
}

/** Figures of one day in a response with `granularity=daily` (docs/contract.md#daily-figures). */
export interface DailyFigures extends MetricsView {
  readonly date: string;
  readonly clicks_not_booked: UnbookedClicksView;
  readonly widget_events: WidgetEventsView;
  /** True if the day is more than 45 days ago, so that its revenue counts as final. */
  readonly matured: boolean;
}

/** Figures of one session in a response with `granularity=row` (docs/contract.md#rows). */
export interface SessionFigures {
  readonly sub_id: string;
  readonly referrer_tag: string;
  readonly created_at: string;
  readonly sandbox: boolean;
  readonly device: string;
  readonly metadata: Readonly<Record<string, string | number | boolean | null>> | null;
  readonly marketplace_views: number;
  readonly offer_clicks: number;
  readonly rev_attributed: number;
  readonly rev_confirmed: number;
  readonly last_event_at: string;
  readonly lenders: readonly LenderView[];
}

/** One page of a response with `granularity=daily` or `granularity=row` (docs/contract.md#pages). */
export interface AnalyticsPageResponse<Granularity extends 'daily' | 'row', Item> extends IgnoredParameters {
  readonly referrer_tag: string | null;
  readonly granularity: Granularity;
  readonly date_from: string;
  readonly date_to: string;
  readonly sessions_kept_from: string | null;
  readonly data: readonly Item[];
  readonly has_more: boolean;
  readonly next_cursor: string | null;
}

export type DailyAnalytics = AnalyticsPageResponse<'daily', DailyFigures>;
export type SessionRowsResponse = AnalyticsPageResponse<'row', SessionFigures>;

/** Figures of all sessions of one referrer tag (docs/contract.md#tags). */
export interface TagFigures
  extends Pick<
    MetricsView,
    'sessions_total' | 'marketplace_views' | 'offer_clicks' | 'rev_attributed' | 'rev_confirmed'
  > {
  readonly referrer_tag: string;
  readonly first_session_at: string;
  readonly last_session_at: string;
}

/** One page of the referrer tags of a tenant. */
export interface TagsResponse extends IgnoredParameters {
  readonly data: readonly TagFigures[];
  readonly has_more: boolean;
  readonly next_cursor: string | null;
}

/** Range of days from the first to the last day number, both inclusive. */
export interface DayRange {
  readonly fromDay: number;
  readonly toDay: number;
}

export function toSummaryView(
  referrerTag: string | null,
  window: DayRange,
  maturedWindow: DayRange,
  figures: SummaryResult,
): AnalyticsSummary {
  const matured = toMaturedView(figures.matured, maturedWindow);
  return {
    referrer_tag: referrerTag,
    ...toMetricsView(figures),
    top_lenders: figures.topLenders.map(toLenderView),
    granularity: 'summary',
    ...formatDateRange(window, figures.retainedFromDay),
    ids_outside_dates: figures.subsOutsideDates,
    bot_sessions: figures.byDevice.find(({ device }) => deviceName(device) === 'bot')?.sessions ?? 0,
    matured,
    matured_from: matured.from,
    matured_to: matured.to,
    sessions_matured: matured.sessions,
    rev_per_session_matured: matured.rev_per_session,
    rev_per_session_ci95: matured.ci95,
    by_device: Object.fromEntries(figures.byDevice.map((device) => [deviceName(device.device), toMetricsView(device)])),
    clicks_not_booked: toUnbookedClicksView(figures.unbookedClicks),
    widget_events: toWidgetEventsView(figures.widgetEvents),
    as_of: figures.asOfMs === null ? null : formatIsoTimestamp(figures.asOfMs),
  };
}

export function toDayView(figures: DayMetrics): DailyFigures {
  return {
    date: formatIsoDate(figures.day),
    ...toMetricsView(figures),
    clicks_not_booked: toUnbookedClicksView(figures.unbookedClicks),
    widget_events: toWidgetEventsView(figures.widgetEvents),
    matured: figures.matured,
  };
}

export function toSessionRowView(row: SessionRow): SessionFigures {
  const { createdMs, mode } = decodeSubId(row.sub);
  return {
    sub_id: formatSubId(row.sub),
    referrer_tag: row.referrerTag,
    created_at: formatIsoTimestamp(createdMs),
    sandbox: mode === 'test',
    device: deviceName(row.device),
    metadata: row.metadata === null ? null : parseMetadata(row.metadata),
    marketplace_views: row.views,
    offer_clicks: row.clicks,
    rev_attributed: microsToUsd(row.attributedMicros),
    rev_confirmed: microsToUsd(row.confirmedMicros),
    last_event_at: formatIsoTimestamp(row.lastEventMs),
    lenders: row.lenders.map(toLenderView),
  };
}

export function toTagView({ tag, firstSessionMs, lastSessionMs, ...metrics }: TagMetrics): TagFigures {
  const { click_rate: _, rev_per_session: __, ...figures } = toMetricsView(metrics);
  return {
    referrer_tag: tag,
    first_session_at: formatIsoTimestamp(firstSessionMs),
    last_session_at: formatIsoTimestamp(lastSessionMs),
    ...figures,
  };
}

/** @param computeFirstRetainedDay first day with retained sessions; 0 when every session is retained */
export function formatDateRange({ fromDay, toDay }: DayRange, retainedFromDay: number) {
  const sessionsKeptFrom = retainedFromDay === 0 ? null : formatIsoDate(retainedFromDay);
  return { date_from: formatIsoDate(fromDay), date_to: formatIsoDate(toDay), sessions_kept_from: sessionsKeptFrom };
}

function toMetricsView(figures: CohortMetrics): MetricsView {
  return {
    sessions_total: figures.sessions,
    marketplace_views: figures.views,
    offer_clicks: figures.clicks,
    click_rate: ratio(figures.clicks, figures.views),
    rev_attributed: microsToUsd(figures.attributedMicros),
    rev_confirmed: microsToUsd(figures.confirmedMicros),
    rev_per_session: ratio(microsToUsd(figures.confirmedMicros), figures.sessions),
  };
}

function toMaturedView(matured: SummaryResult['matured'], { fromDay, toDay }: DayRange): MaturedView {
  const { sessions, sessionsWithRevenue, confirmedMicros, confirmedUsdSquared } = matured;
  const hasMaturedDay = fromDay <= toDay;
  const interval = computeMeanInterval({
    units: sessions,
    unitsWithRevenue: sessionsWithRevenue,
    revenue: microsToUsd(confirmedMicros),
    revenueSquared: confirmedUsdSquared,
  });
  return {
    from: hasMaturedDay ? formatIsoDate(fromDay) : null,
    to: hasMaturedDay ? formatIsoDate(toDay) : null,
    sessions,
    sessions_with_revenue: sessionsWithRevenue,
    rev_per_session: sessions === 0 ? null : ratio(microsToUsd(confirmedMicros), sessions),
    ci95: interval && { low: roundHalfUp(interval.low, 6), high: roundHalfUp(interval.high, 6) },
  };
}

function toUnbookedClicksView(counts: UnbookedClickCounts): UnbookedClicksView {
  return Object.fromEntries(unbookedReasons.map((reason, index) => [reason, counts[index] ?? 0])) as UnbookedClicksView;
}

function toWidgetEventsView(counts: WidgetCounts): WidgetEventsView {
  return Object.fromEntries(widgetEventTypes.map((type, index) => [type, counts[index] ?? 0])) as WidgetEventsView;
}

function toLenderView({ lender, clicks, confirmedMicros }: LenderMetrics): LenderView {
  return { lender, clicks, rev_confirmed: microsToUsd(confirmedMicros) };
}

function deviceName(device: number): (typeof deviceClasses)[number] {
  return deviceClasses[device] ?? 'unknown';
}

/** Parses metadata. Returns null for text that is not a JSON object, so that one corrupt ledger record does not fail the whole page. */
function parseMetadata(json: string): SessionFigures['metadata'] {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'object' && !Array.isArray(value) ? (value as SessionFigures['metadata']) : null;
  } catch {
    return null;
  }
}

/** Returns `part / whole`, rounded to six decimals; 0 if `whole` is 0. */
function ratio(part: number, whole: number): number {
  return whole === 0 ? 0 : roundHalfUp(part / whole, 6);
}
