import { bounds } from '../../bounds.ts';
import { escapeInvisibleCharacters } from '../../domain/text.ts';
import type { AnalyticsSummary, DailyFigures, SessionFigures, TagFigures } from '../../operations/analytics-schemas.ts';
import { type Column, formatNameValuePairs, formatRows } from '../output.ts';

export function formatLedgerPosition(position: number): string {
  return position === 0 ? 'as of the start of the ledger' : `as of record ${position} of the ledger`;
}

type MetricFigures = NonNullable<AnalyticsSummary['by_device']['mobile']>;

const metricColumns: readonly Column<MetricFigures>[] = [
  ['SESSIONS', (figures) => figures.sessions_total],
  ['VIEWS', (figures) => figures.marketplace_views],
  ['CLICKS', (figures) => figures.offer_clicks],
  ['CLICKS PER VIEW', (figures) => formatAverage(figures.click_rate)],
  ['ATTRIBUTED USD', (figures) => formatUsd(figures.rev_attributed)],
  ['CONFIRMED USD', (figures) => formatUsd(figures.rev_confirmed)],
  ['CONFIRMED USD PER SESSION', (figures) => formatAverage(figures.rev_per_session)],
];

/** @param tagHasSessions false if no session of the account, vertical and mode ever had the tag */
export function formatSummary(summary: AnalyticsSummary, position: number, tagHasSessions = true): string {
  const { sessions_kept_from: keptFrom } = summary;
  const unbooked = Object.entries(summary.clicks_not_booked).filter(([, count]) => count > 0);
  const widgetEvents = Object.entries(summary.widget_events).filter(([, count]) => count > 0);
  const head: [string, string][] = [
    ['tag', summary.referrer_tag ?? '-'],
    ['days', `${summary.date_from} to ${summary.date_to}, UTC: days on which the sessions were created`],
    [
      'as of',
      `${formatLedgerPosition(position).slice('as of '.length)}${summary.as_of === null ? '' : `, ${summary.as_of}`}`,
    ],
    ['sessions', formatSessionCount(summary, tagHasSessions)],
    ['views', `${summary.marketplace_views} times that offers were shown to these sessions`],
    [
      'clicks',
      `${summary.offer_clicks}, each offer counted once per session: ${formatAverage(summary.click_rate)} clicks per view`,
    ],
    ['attributed', `${formatUsd(summary.rev_attributed)} USD expected from the clicks`],
    [
      'confirmed',
      `${formatUsd(summary.rev_confirmed)} USD confirmed so far: ${formatAverage(summary.rev_per_session)} USD per session`,
    ],
    ['matured', formatMatured(summary)],
  ];
  if (unbooked.length > 0) {
    head.push([
      'not booked',
      `clicks without revenue: ${unbooked.map(([reason, count]) => `${count} ${reason}`).join(', ')}`,
    ]);
  }
  if (widgetEvents.length > 0) {
    head.push(['widgets', `events: ${widgetEvents.map(([type, count]) => `${count} ${type}`).join(', ')}`]);
  }
  if (keptFrom !== null)
    head.push(['retained', `sessions from ${keptFrom} on; earlier days remain in the figures only`]);
  const parts = [formatNameValuePairs(head, 12)];
  const devices = Object.entries(summary.by_device);
  if (devices.length > 0) {
    const rows = devices.map(([device, figures]) => ({ device, ...figures }));
    parts.push(formatRows([['DEVICE', ({ device }) => device], ...metricColumns], rows));
  }
  if (summary.top_lenders.length > 0) {
    const columns: readonly Column<AnalyticsSummary['top_lenders'][number]>[] = [
      ['LENDER', ({ lender }) => escapeInvisibleCharacters(lender)],
      ['CLICKS', ({ clicks }) => clicks],
      ['CONFIRMED USD', ({ rev_confirmed }) => formatUsd(rev_confirmed)],
    ];
    parts.push(formatRows(columns, summary.top_lenders));
  }
  return parts.join('\n\n');
}

function formatSessionCount({ sessions_total, bot_sessions }: AnalyticsSummary, tagHasSessions: boolean): string {
  if (!tagHasSessions) return '0: no session of this account, vertical and mode has this tag';
  return bot_sessions === 0 ? String(sessions_total) : `${sessions_total}, of which ${bot_sessions} of bots`;
}

/** Formats the figures of sessions older than `bounds.maturedDays` days, for which most confirmations have arrived. */
function formatMatured({
  matured: { from, to, sessions, sessions_with_revenue: withRevenue, rev_per_session: perSession, ci95: interval },
}: AnalyticsSummary): string {
  if (from === null) return `no day of this period is older than ${bounds.maturedDays} days`;
  const counted = `${sessions} sessions from ${from} to ${to}, older than ${bounds.maturedDays} days`;
  if (perSession === null) return counted;
  const text = `${counted}: ${formatAverage(perSession)} USD confirmed per session`;
  if (interval !== null)
    return `${text}, 95 % interval ${formatAverage(interval.low)} to ${formatAverage(interval.high)} USD`;
  return withRevenue === null
    ? text
    : `${text}, too early to compare: ${withRevenue} sessions with revenue, at least ${bounds.unitsWithRevenueMin} needed`;
}

const dailyColumns: readonly Column<DailyFigures>[] = [
  ['DATE', ({ date }) => date],
  ...metricColumns,
  ['NOT BOOKED', (day) => Object.values(day.clicks_not_booked).reduce((sum, count) => sum + count, 0)],
  ['MATURED', ({ matured }) => (matured ? 'yes' : 'no')],
];

export function formatDailyTable(days: readonly DailyFigures[], position: number): string {
  return `${formatRows(dailyColumns, days)}\n\nFigures are ${formatLedgerPosition(position)}. A day counts the sessions created on it, UTC; it is matured when it is older than ${bounds.maturedDays} days.`;
}

/** Columns have fixed widths, because each page is printed separately and the columns must stay aligned. */
export const sessionColumns: readonly Column<SessionFigures>[] = [
  ['CREATED', (session) => session.created_at, 24],
  ['SUB ID', (session) => session.sub_id, 68],
  ['DEVICE', (session) => session.device, 7],
  ['VIEWS', (session) => session.marketplace_views, 5],
  ['CLICKS', (session) => session.offer_clicks, 6],
  ['ATTRIBUTED USD', (session) => formatUsd(session.rev_attributed), 14],
  ['CONFIRMED USD', (session) => formatUsd(session.rev_confirmed)],
];

export const tagColumns: readonly Column<TagFigures>[] = [
  ['FIRST SESSION', (tag) => tag.first_session_at, 24],
  ['LAST SESSION', (tag) => tag.last_session_at, 24],
  ['SESSIONS', (tag) => tag.sessions_total, 8],
  ['VIEWS', (tag) => tag.marketplace_views, 8],
  ['CLICKS', (tag) => tag.offer_clicks, 8],
  ['ATTRIBUTED USD', (tag) => formatUsd(tag.rev_attributed), 14],
  ['CONFIRMED USD', (tag) => formatUsd(tag.rev_confirmed), 14],
  ['TAG', (tag) => tag.referrer_tag],
];

/** Formats an amount per session with four decimals, because tags may differ by less than a cent per session. */
function formatAverage(amount: number): string {
  return amount.toFixed(4);
}

/** Formats an exact amount with two to six decimals, so that the printed amounts add up. */
function formatUsd(amount: number): string {
  return amount.toFixed(6).replace(/0{1,4}$/, '');
}
