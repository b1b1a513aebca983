import { bounds } from '../../bounds.ts';
import { escapeInvisibleCharacters } from '../../domain/text.ts';
import type { AnalyticsSummary, DailyFigures, SessionFigures, TagFigures } from '../../operations/analytics-schemas.ts';
import { formatNameValuePairs, formatTable } from '../output.ts';

export function formatLedgerPosition(position: number): string {
  return position === 0 ? 'as of the start of the ledger' : `as of record ${position} of the ledger`;
}

const metricHeadings = [
  'SESSIONS',
  'VIEWS',
  'CLICKS',
  'CLICKS PER VIEW',
  'ATTRIBUTED USD',
  'CONFIRMED USD',
  'CONFIRMED USD PER SESSION',
];
type SessionMetrics = Pick<
  AnalyticsSummary,
  | 'sessions_total'
  | 'marketplace_views'
  | 'offer_clicks'
  | 'click_rate'
  | 'rev_attributed'
  | 'rev_confirmed'
  | 'rev_per_session'
>;

function metricCells(figures: SessionMetrics): string[] {
  return [
    String(figures.sessions_total),
    String(figures.marketplace_views),
    String(figures.offer_clicks),
    formatAverage(figures.click_rate),
    formatUsd(figures.rev_attributed),
    formatUsd(figures.rev_confirmed),
    formatAverage(figures.rev_per_session),
  ];
}

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
    const rows = devices.map(([device, figures]) => [device, ...metricCells(figures)]);
    parts.push(formatTable(['DEVICE', ...metricHeadings], rows));
  }
  if (summary.top_lenders.length > 0) {
    const rows = summary.top_lenders.map(({ lender, clicks, rev_confirmed }) => [
      escapeInvisibleCharacters(lender),
      String(clicks),
      formatUsd(rev_confirmed),
    ]);
    parts.push(formatTable(['LENDER', 'CLICKS', 'CONFIRMED USD'], rows));
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

export function formatDailyTable(days: readonly DailyFigures[], position: number): string {
  const rows = days.map((day) => {
    const unbooked = Object.values(day.clicks_not_booked).reduce((sum, count) => sum + count, 0);
    return [day.date, ...metricCells(day), String(unbooked), day.matured ? 'yes' : 'no'];
  });
  return `${formatTable(['DATE', ...metricHeadings, 'NOT BOOKED', 'MATURED'], rows)}\n\nFigures are ${formatLedgerPosition(position)}. A day counts the sessions created on it, UTC; it is matured when it is older than ${bounds.maturedDays} days.`;
}

/** Formats sessions in columns of fixed width, because each page is printed separately and the columns must stay aligned. */
export function formatSessions(sessions: readonly SessionFigures[], withHeadings: boolean): string {
  const lines = sessions.map((session) => [
    session.created_at,
    session.sub_id,
    session.device,
    String(session.marketplace_views),
    String(session.offer_clicks),
    formatUsd(session.rev_attributed),
    formatUsd(session.rev_confirmed),
  ]);
  if (withHeadings)
    lines.unshift(['CREATED', 'SUB ID', 'DEVICE', 'VIEWS', 'CLICKS', 'ATTRIBUTED USD', 'CONFIRMED USD']);
  return formatFixedColumns(lines, [24, 68, 7, 5, 6, 14]);
}

/** Formats tags in columns of fixed width, as `formatSessions` does. */
export function formatTags(tags: readonly TagFigures[], withHeadings: boolean): string {
  const lines = tags.map((tag) => [
    tag.first_session_at,
    tag.last_session_at,
    String(tag.sessions_total),
    String(tag.marketplace_views),
    String(tag.offer_clicks),
    formatUsd(tag.rev_attributed),
    formatUsd(tag.rev_confirmed),
    tag.referrer_tag,
  ]);
  const amounts = ['ATTRIBUTED USD', 'CONFIRMED USD'];
  if (withHeadings) lines.unshift(['FIRST SESSION', 'LAST SESSION', 'SESSIONS', 'VIEWS', 'CLICKS', ...amounts, 'TAG']);
  return formatFixedColumns(lines, [24, 24, 8, 8, 8, 14, 14]);
}

function formatFixedColumns(lines: readonly (readonly string[])[], widths: readonly number[]): string {
  return lines
    .map((cells) =>
      cells
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** Formats an amount per session with four decimals, because tags may differ by less than a cent per session. */
function formatAverage(amount: number): string {
  return amount.toFixed(4);
}

/** Formats an exact amount with two to six decimals, so that the printed amounts add up. */
function formatUsd(amount: number): string {
  return amount.toFixed(6).replace(/0{1,4}$/, '');
}
