import type { Analytics, Figures, SummaryFigures } from '../analytics/analytics.ts';
import { AnalyticsUnavailable } from '../analytics/analytics.ts';
import { bounds } from '../bounds.ts';
import { dayOf, isoDate, parseIsoDate } from '../domain/calendar.ts';
import type { Clock } from '../domain/clock.ts';
import { isoTimestamp } from '../domain/iso-timestamp.ts';
import { microsPerUsd, microsToUsd, roundHalfUp } from '../domain/money.ts';
import { done, invalidRequest, type Outcome, refusedFor, unavailable } from '../domain/outcome.ts';
import { deviceClasses } from '../events/ledger-record.ts';
import { decodeSubId, type SubIds } from '../sessions/sub-id.ts';
import type { Tenant } from '../verticals/tenant.ts';
import { isReferrerTag } from './referrer-tag.ts';

export interface QueryAnalyticsPorts {
  readonly clock: Clock;
  readonly subIds: SubIds;
  readonly analytics: Analytics;
}

/** Query parameters as sent, undefined when absent (contract 4.4). */
export interface AnalyticsRequest {
  readonly referrer_tag?: string | undefined;
  readonly sub_id_list?: string | undefined;
  readonly date_from?: string | undefined;
  readonly date_to?: string | undefined;
  readonly granularity?: string | undefined;
}

interface FiguresView {
  readonly sessions_total: number;
  readonly marketplace_views: number;
  readonly offer_clicks: number;
  readonly click_rate: number;
  readonly rev_attributed: number;
  readonly rev_confirmed: number;
  readonly rev_per_session: number;
}

/** The summary record of contract 2.5 with the additive fields of D12. */
export interface SummaryView extends FiguresView {
  readonly referrer_tag: string | null;
  readonly top_lenders: readonly { readonly lender: string; readonly clicks: number; readonly rev_confirmed: number }[];
  readonly granularity: 'summary';
  readonly date_from: string;
  readonly date_to: string;
  readonly ids_outside_dates: number;
  readonly sessions_matured: number;
  readonly rev_per_session_matured: number | null;
  readonly rev_per_session_ci95: { readonly low: number; readonly high: number } | null;
  readonly by_device: Readonly<Record<string, FiguresView>>;
  readonly as_of: string | null;
}

/** GET /analytics (contract 4.4, D12): the figures of a tag, of a list of sessions, or of their intersection. */
export async function queryAnalytics(
  ports: QueryAnalyticsPorts,
  tenant: Tenant,
  request: AnalyticsRequest,
): Promise<Outcome<SummaryView>> {
  const { referrer_tag: referrerTag, sub_id_list: subIdList } = request;
  if (referrerTag === undefined && subIdList === undefined) return invalidRequest('referrer_tag');
  if (referrerTag !== undefined && !isReferrerTag(referrerTag)) return refusedFor('INVALID_REFERRER_TAG');
  const subIds = subIdList?.split(',');
  if (subIds !== undefined && subIds.length > bounds.subIdListMax) return invalidRequest('sub_id_list');
  // row and daily are granularities of the contract, but not served yet (see the README).
  if (request.granularity !== undefined && request.granularity !== 'summary') return invalidRequest('granularity');
  const today = dayOf(ports.clock.wallMs());
  const window = parseWindow(request.date_from, request.date_to, today);
  if (typeof window === 'string') return invalidRequest(window);

  try {
    const figures = await ports.analytics.summary({
      account: tenant.account,
      vertical: tenant.vertical.number,
      mode: tenant.mode,
      referrerTag: referrerTag ?? null,
      subs: subIds === undefined ? null : ownSubs(ports.subIds, tenant, subIds),
      ...window,
      today,
    });
    return done(summaryView(referrerTag ?? null, window, figures));
  } catch (fault) {
    if (fault instanceof AnalyticsUnavailable) return unavailable(bounds.retryAfterSeconds);
    throw fault;
  }
}

interface Window {
  readonly fromDay: number;
  readonly toDay: number;
}

/** The dates asked for, with their defaults; or the name of the parameter at fault. */
function parseWindow(from: string | undefined, to: string | undefined, today: number): Window | string {
  const toDay = to === undefined ? today : parseIsoDate(to);
  if (toDay === null) return 'date_to';
  const fromDay = from === undefined ? toDay - bounds.analyticsDefaultDays : parseIsoDate(from);
  if (fromDay === null || fromDay > toDay) return 'date_from';
  return { fromDay, toDay };
}

/** The genuine ids of this tenant, each once, as their bytes; whatever else was listed contributes nothing. */
function ownSubs(subIds: SubIds, tenant: Tenant, listed: readonly string[]): Uint8Array[] {
  const own: Uint8Array[] = [];
  for (const text of new Set(listed)) {
    const bytes = subIds.verify(text);
    if (bytes === null) continue;
    const { account, vertical, mode } = decodeSubId(bytes);
    if (account === tenant.account && vertical === tenant.vertical.number && mode === tenant.mode) {
      own.push(Uint8Array.from(bytes));
    }
  }
  return own;
}

function summaryView(referrerTag: string | null, window: Window, figures: SummaryFigures): SummaryView {
  const { matured } = figures;
  return {
    referrer_tag: referrerTag,
    ...figuresView(figures),
    top_lenders: figures.topLenders.map(({ lender, clicks, confirmedMicros }) => ({
      lender,
      clicks,
      rev_confirmed: microsToUsd(confirmedMicros),
    })),
    granularity: 'summary',
    date_from: isoDate(window.fromDay),
    date_to: isoDate(window.toDay),
    ids_outside_dates: figures.subsOutsideDates,
    sessions_matured: matured.sessions,
    rev_per_session_matured:
      matured.sessions === 0 ? null : ratio(matured.confirmedMicros / microsPerUsd, matured.sessions),
    rev_per_session_ci95: confidenceInterval(matured),
    by_device: Object.fromEntries(
      figures.byDevice.map((device) => [deviceClasses[device.device] ?? 'unknown', figuresView(device)]),
    ),
    as_of: figures.asOfMs === null ? null : isoTimestamp(figures.asOfMs),
  };
}

function figuresView(figures: Figures): FiguresView {
  return {
    sessions_total: figures.sessions,
    marketplace_views: figures.views,
    offer_clicks: figures.clicks,
    click_rate: ratio(figures.clicks, figures.views),
    rev_attributed: microsToUsd(figures.attributedMicros),
    rev_confirmed: microsToUsd(figures.confirmedMicros),
    rev_per_session: ratio(figures.confirmedMicros / microsPerUsd, figures.sessions),
  };
}

/** Ratios carry six decimals; nothing over nothing is 0. */
function ratio(part: number, whole: number): number {
  return whole === 0 ? 0 : roundHalfUp(part / whole, 6);
}

/** 95 % interval of the mean confirmed revenue of a matured session, by the normal approximation (D12); null for few sessions. */
function confidenceInterval({
  sessions,
  confirmedMicros,
  confirmedUsdSquared,
}: SummaryFigures['matured']): { low: number; high: number } | null {
  if (sessions < bounds.confidenceSessionsMin) return null;
  const mean = confirmedMicros / microsPerUsd / sessions;
  const variance = Math.max(0, confirmedUsdSquared - sessions * mean * mean) / (sessions - 1);
  const margin = 1.96 * Math.sqrt(variance / sessions);
  return { low: roundHalfUp(mean - margin, 6), high: roundHalfUp(mean + margin, 6) };
}
