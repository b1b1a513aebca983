import type {
  CohortMetrics,
  DayMetrics,
  LenderMetrics,
  OfferMetrics,
  SessionRow,
  SummaryResult,
  TagMetrics,
} from '../analytics/analytics.ts';
import { formatIsoDate, formatIsoTimestamp } from '../domain/calendar.ts';
import { microsToUsd, roundHalfUp } from '../domain/money.ts';
import { decodeSubId, formatSubId } from '../ids/sub-id.ts';
import { deviceClasses, unbookedReasons, widgetEventTypes } from '../ledger/ledger-record.ts';
import { computeMeanInterval } from '../statistics/mean-interval.ts';
import type {
  AnalyticsSummary,
  DailyFigures,
  MaturedFigures,
  OfferFigures,
  SessionFigures,
  TagFigures,
} from './analytics-schemas.ts';

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
    top_lenders: figures.topLenders.map(toTopLenderView),
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
    clicks_not_booked: nameCounts(unbookedReasons, figures.unbookedClicks),
    widget_events: nameCounts(widgetEventTypes, figures.widgetEvents),
    as_of: figures.asOfMs === null ? null : formatIsoTimestamp(figures.asOfMs),
  };
}

export function toDayView(figures: DayMetrics): DailyFigures {
  return {
    date: formatIsoDate(figures.day),
    ...toMetricsView(figures),
    clicks_not_booked: nameCounts(unbookedReasons, figures.unbookedClicks),
    widget_events: nameCounts(widgetEventTypes, figures.widgetEvents),
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

/** @param lenderName name of the offer's lender; null if it is unknown */
export function toOfferView(figures: OfferMetrics, lenderName: string | null): OfferFigures {
  const { offerId, shownByPosition, clicks } = figures;
  const shown = shownByPosition.reduce((sum, count) => sum + count, 0);
  const attributed = microsToUsd(figures.attributedMicros);
  const confirmed = microsToUsd(figures.confirmedMicros);
  return {
    svc_offer_id: offerId,
    lender_name: lenderName,
    shown,
    shown_by_position: shownByPosition,
    average_position: shown === 0 ? null : ratio(sumPositions(shownByPosition), shown),
    offer_clicks: clicks,
    click_rate: ratio(clicks, shown),
    rev_attributed: attributed,
    rev_confirmed: confirmed,
    rev_attributed_per_click: ratio(attributed, clicks),
    rev_confirmed_per_click: ratio(confirmed, clicks),
    rev_attributed_per_shown: ratio(attributed, shown),
    rev_confirmed_per_shown: ratio(confirmed, shown),
  };
}

/** Returns the sum of the positions of all times that an offer was shown. The first position is 1. */
function sumPositions(shownByPosition: readonly number[]): number {
  return shownByPosition.reduce((sum, count, index) => sum + count * (index + 1), 0);
}

export function toTagView({ tag, firstSessionMs, lastSessionMs, recentDays, ...metrics }: TagMetrics): TagFigures {
  const { click_rate: _, rev_per_session: __, ...figures } = toMetricsView(metrics);
  return {
    referrer_tag: tag,
    first_session_at: formatIsoTimestamp(firstSessionMs),
    last_session_at: formatIsoTimestamp(lastSessionMs),
    ...figures,
    ...(recentDays === undefined ? {} : { recent: toRecentView(recentDays) }),
  };
}

/** Returns the figures of the last days of a tag, in total and for each day. */
function toRecentView(days: NonNullable<TagMetrics['recentDays']>): NonNullable<TagFigures['recent']> {
  const sum = (figure: keyof CohortMetrics) => days.reduce((total, day) => total + day[figure], 0);
  return {
    ...toMetricsView({
      sessions: sum('sessions'),
      views: sum('views'),
      clicks: sum('clicks'),
      attributedMicros: sum('attributedMicros'),
      confirmedMicros: sum('confirmedMicros'),
    }),
    daily: days.map(({ day, ...metrics }) => ({ date: formatIsoDate(day), ...toMetricsView(metrics) })),
  };
}

/** @param computeFirstRetainedDay first day with retained sessions; 0 when every session is retained */
export function formatDateRange({ fromDay, toDay }: DayRange, retainedFromDay: number) {
  const sessionsKeptFrom = retainedFromDay === 0 ? null : formatIsoDate(retainedFromDay);
  return { date_from: formatIsoDate(fromDay), date_to: formatIsoDate(toDay), sessions_kept_from: sessionsKeptFrom };
}

function toMetricsView(figures: CohortMetrics) {
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

function toMaturedView(matured: SummaryResult['matured'], { fromDay, toDay }: DayRange): MaturedFigures {
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

/** Returns the counts by name; 0 for a name without a count. */
function nameCounts<Name extends string>(names: readonly Name[], counts: readonly number[]): Record<Name, number> {
  return Object.fromEntries(names.map((name, index) => [name, counts[index] ?? 0])) as Record<Name, number>;
}

function toLenderView({ lender, clicks, confirmedMicros }: LenderMetrics) {
  return { lender, clicks, rev_confirmed: microsToUsd(confirmedMicros) };
}

function toTopLenderView(metrics: LenderMetrics) {
  const lender = toLenderView(metrics);
  return { ...lender, rev_confirmed_per_click: ratio(lender.rev_confirmed, lender.clicks) };
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
