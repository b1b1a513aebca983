import { bounds } from '../bounds.ts';
import { visibleText } from '../domain/plain-text.ts';
import type { DayView, RowView, SummaryView } from '../operations/analytics-views.ts';
import { facts, table } from './output.ts';

/** Up to where figures count, in words. */
export function asOf(position: number): string {
  return position === 0 ? 'as of the start of the ledger' : `as of record ${position} of the ledger`;
}

const figureHeadings = [
  'SESSIONS',
  'VIEWS',
  'CLICKS',
  'CLICKS PER VIEW',
  'ATTRIBUTED USD',
  'CONFIRMED USD',
  'CONFIRMED USD PER SESSION',
];
type FiguresOf = Pick<
  SummaryView,
  | 'sessions_total'
  | 'marketplace_views'
  | 'offer_clicks'
  | 'click_rate'
  | 'rev_attributed'
  | 'rev_confirmed'
  | 'rev_per_session'
>;

function figureCells(figures: FiguresOf): string[] {
  return [
    String(figures.sessions_total),
    String(figures.marketplace_views),
    String(figures.offer_clicks),
    mean(figures.click_rate),
    usd(figures.rev_attributed),
    usd(figures.rev_confirmed),
    mean(figures.rev_per_session),
  ];
}

export function summaryText(summary: SummaryView, position: number): string {
  const { sessions_kept_from: keptFrom } = summary;
  const told = Object.entries(summary.widget_events).filter(([, count]) => count > 0);
  const head: [string, string][] = [
    ['tag', summary.referrer_tag ?? '-'],
    ['days', `${summary.date_from} to ${summary.date_to}, UTC: those on which the sessions were created`],
    ['as of', `${asOf(position).slice('as of '.length)}${summary.as_of === null ? '' : `, ${summary.as_of}`}`],
    ['sessions', String(summary.sessions_total)],
    ['views', `${summary.marketplace_views}, one each time offers were shown to one of these sessions`],
    [
      'clicks',
      `${summary.offer_clicks}, each offer counted once a session: ${mean(summary.click_rate)} clicks per view`,
    ],
    ['attributed', `${usd(summary.rev_attributed)} USD that the clicks are expected to earn`],
    [
      'confirmed',
      `${usd(summary.rev_confirmed)} USD that lenders confirmed so far: ${mean(summary.rev_per_session)} USD per session`,
    ],
    ['matured', maturedText(summary)],
  ];
  if (told.length > 0) {
    head.push(['widgets', `events they told: ${told.map(([type, count]) => `${count} ${type}`).join(', ')}`]);
  }
  if (keptFrom !== null) head.push(['kept from', `${keptFrom}; of days before, single sessions are gone`]);
  const parts = [facts(head, 12)];
  const devices = Object.entries(summary.by_device);
  if (devices.length > 0) {
    const rows = devices.map(([device, figures]) => [device, ...figureCells(figures)]);
    parts.push(table(['DEVICE', ...figureHeadings], rows));
  }
  if (summary.top_lenders.length > 0) {
    const rows = summary.top_lenders.map(({ lender, clicks, rev_confirmed }) => [
      visibleText(lender),
      String(clicks),
      usd(rev_confirmed),
    ]);
    parts.push(table(['LENDER', 'CLICKS', 'CONFIRMED USD'], rows));
  }
  return parts.join('\n\n');
}

/** Most confirmations have come by then, so sessions that old are what experiments are judged by. */
function maturedText({
  matured_from: from,
  matured_to: to,
  sessions_matured: sessions,
  rev_per_session_matured: perSession,
  rev_per_session_ci95: interval,
}: SummaryView): string {
  if (from === null) return `no day of the dates is older than ${bounds.maturedDays} days`;
  const counted = `${sessions} sessions from ${from} to ${to}, older than ${bounds.maturedDays} days`;
  if (perSession === null) return counted;
  const told = `${counted}: ${mean(perSession)} USD confirmed per session`;
  return interval === null ? told : `${told}, 95 % interval ${mean(interval.low)} to ${mean(interval.high)} USD`;
}

export function daysText(days: readonly DayView[], position: number): string {
  const rows = days.map((day) => [day.date, ...figureCells(day), day.matured ? 'yes' : 'no']);
  return `${table(['DATE', ...figureHeadings, 'MATURED'], rows)}\n\nFigures are ${asOf(position)}. A day has the sessions created on it, UTC; matured are those older than ${bounds.maturedDays} days.`;
}

/** Under fixed headings, since whoever prints does not know how long the list gets. */
export function sessionLines(sessions: readonly RowView[], withHeadings: boolean): string {
  const lines = sessions.map((session) => [
    session.created_at,
    session.sub_id,
    session.device,
    String(session.marketplace_views),
    String(session.offer_clicks),
    usd(session.rev_attributed),
    usd(session.rev_confirmed),
  ]);
  if (withHeadings)
    lines.unshift(['CREATED', 'SUB ID', 'DEVICE', 'VIEWS', 'CLICKS', 'ATTRIBUTED USD', 'CONFIRMED USD']);
  return lines
    .map((cells) =>
      cells
        .map((cell, at) => cell.padEnd(widths[at] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

const widths = [24, 68, 7, 5, 6, 14];

/** Experiments may differ by less than a cent per session. */
function mean(amount: number): string {
  return amount.toFixed(4);
}

function usd(amount: number): string {
  return amount.toFixed(2);
}
