import type { AnalyticsSummary, DailyAnalytics, SessionFigures } from '../../src/index.ts';
import { widgetEventTypes } from '../../src/ledger/ledger-record.ts';
import { revenueChangeMicros } from './confirmations.ts';
import { lenderOf } from './personal-loans-rules.ts';
import type { SessionRecord } from './session-record.ts';

/** Exact figures of one session or of many. */
export interface Figures {
  readonly views: number;
  readonly clicks: number;
  readonly attributedMicros: number;
  readonly confirmedMicros: number;
  /** Number of events by index of `widgetEventTypes`. */
  readonly widgetEvents: readonly number[];
}

export const noFigures: Figures = {
  views: 0,
  clicks: 0,
  attributedMicros: 0,
  confirmedMicros: 0,
  widgetEvents: widgetEventTypes.map(() => 0),
};

export function addFigures(a: Figures, b: Figures): Figures {
  return {
    views: a.views + b.views,
    clicks: a.clicks + b.clicks,
    attributedMicros: a.attributedMicros + b.attributedMicros,
    confirmedMicros: a.confirmedMicros + b.confirmedMicros,
    widgetEvents: a.widgetEvents.map((count, type) => count + b.widgetEvents[type]!),
  };
}

/** Figures as the analytics report them, in micro-dollars. */
export interface ReportedFigures extends Figures {
  readonly sessions: number;
  readonly meanConfirmedMicros: number;
}

/** Returns the expected report of the figures of some sessions. */
export function expectedReport(figures: Figures, sessions: number): ReportedFigures {
  const meanConfirmedMicros = sessions === 0 ? 0 : divideHalfUp(figures.confirmedMicros, sessions);
  return { ...figures, sessions, meanConfirmedMicros };
}

/** Reads the figures of a summary or of a day. */
export function readFigures(view: AnalyticsSummary | DailyAnalytics['data'][number]): ReportedFigures {
  return {
    sessions: view.sessions_total,
    views: view.marketplace_views,
    clicks: view.offer_clicks,
    attributedMicros: toMicros(view.rev_attributed),
    confirmedMicros: toMicros(view.rev_confirmed),
    meanConfirmedMicros: toMicros(view.rev_per_session),
    widgetEvents: widgetEventTypes.map((type) => view.widget_events[type]),
  };
}

/** Reads the figures of a summary. Throws unless its lenders and devices add up to the whole. */
export function readSummary(summary: AnalyticsSummary): ReportedFigures {
  const figures = readFigures(summary);
  const lenders = summary.top_lenders;
  const devices = Object.values(summary.by_device);
  const lenderClicks = sumOf(lenders, ({ clicks }) => clicks);
  const areAllLenders = lenders.length < topLendersMax;
  if (
    lenderClicks > figures.clicks ||
    (areAllLenders && lenderClicks !== figures.clicks) ||
    (areAllLenders && sumOf(lenders, confirmedMicrosOf) !== figures.confirmedMicros) ||
    sumOf(devices, confirmedMicrosOf) !== figures.confirmedMicros ||
    sumOf(devices, (device) => device.sessions_total) !== figures.sessions ||
    sumOf(devices, (device) => device.offer_clicks) !== figures.clicks
  ) {
    throw new Error(`contradictory figures: ${JSON.stringify(summary)}`);
  }
  return figures;
}

/** Maximum length of `top_lenders` (docs/contract.md#summary). */
const topLendersMax = 20;

const confirmedMicrosOf = ({ rev_confirmed }: { readonly rev_confirmed: number }) => toMicros(rev_confirmed);

function sumOf<Item>(items: readonly Item[], read: (item: Item) => number): number {
  return items.reduce((sum, item) => sum + read(item), 0);
}

const toMicros = (usd: number): number => Math.round(usd * 1_000_000);

/** Divides integers and rounds, without the rounding errors of fractions. */
function divideHalfUp(dividend: number, divisor: number): number {
  return Math.floor((2 * dividend + divisor) / (2 * divisor));
}

/** Reads the figures of a row in the form of `expectedRow`. */
export function readRow(row: SessionFigures) {
  return {
    tag: row.referrer_tag,
    isSandbox: row.sandbox,
    views: row.marketplace_views,
    clicks: row.offer_clicks,
    attributedMicros: toMicros(row.rev_attributed),
    confirmedMicros: toMicros(row.rev_confirmed),
    lenders: row.lenders.map(({ lender, clicks, rev_confirmed }) => ({
      lender,
      clicks,
      confirmedMicros: toMicros(rev_confirmed),
    })),
  };
}

/** Returns the expected figures of a session's row. */
export function expectedRow({ tag, mode, figures, counted, payouts }: SessionRecord): ReturnType<typeof readRow> {
  const lenders = new Map<string, { clicks: number; confirmedMicros: number }>();
  for (const offerId of counted) {
    const lender = lenderOf(offerId, mode);
    const sum = lenders.get(lender) ?? { clicks: 0, confirmedMicros: 0 };
    lenders.set(lender, { ...sum, clicks: sum.clicks + 1 });
  }
  // Only clicks that count have payouts.
  for (const row of payouts.rows) lenders.get(lenderOf(row.offerId, mode))!.confirmedMicros += revenueChangeMicros(row);
  const { widgetEvents: _, ...counts } = figures;
  return {
    tag,
    isSandbox: mode === 'test',
    ...counts,
    lenders: [...lenders]
      .map(([lender, { clicks, confirmedMicros }]) => ({ lender, clicks, confirmedMicros }))
      .sort((a, b) => b.clicks - a.clicks || (a.lender < b.lender ? -1 : 1)),
  };
}
