import { isDeepStrictEqual } from 'node:util';
import type { RowView, SummaryView } from '../../src/index.ts';
import { widgetEventTypes } from '../../src/ledger/ledger-record.ts';
import { lenderOf } from './personal-loans-rules.ts';
import { revenueChangeMicros } from './confirmations.ts';
import type { SessionRecord } from './session-record.ts';

/** What the analytics hold of one session, or of many, apart from how many they are. */
export interface Figures {
  readonly views: number;
  readonly clicks: number;
  readonly attributedMicros: number;
  readonly confirmedMicros: number;
  /** What widgets told, in the order of `widgetEventTypes`. */
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

/** Figures as an answer tells them: whole cents, and the micro-dollars confirmed of a mean session. */
export interface ReportedFigures {
  readonly sessions: number;
  readonly views: number;
  readonly clicks: number;
  readonly attributedCents: number;
  readonly confirmedCents: number;
  /** Of one session, all that was confirmed of it, exactly. */
  readonly meanConfirmedMicros: number;
  readonly widgetEvents: readonly number[];
}

/** What an answer about so many sessions must tell of them. */
export function expectedReport(figures: Figures, sessions: number): ReportedFigures {
  const { views, clicks, attributedMicros, confirmedMicros, widgetEvents } = figures;
  return {
    sessions,
    views,
    clicks,
    attributedCents: cents(attributedMicros),
    confirmedCents: cents(confirmedMicros),
    meanConfirmedMicros: sessions === 0 ? 0 : halfUp(confirmedMicros, sessions),
    widgetEvents,
  };
}

export const sameFigures = (a: ReportedFigures, b: ReportedFigures): boolean => isDeepStrictEqual(a, b);

type FiguresView = Pick<
  SummaryView,
  | 'sessions_total'
  | 'marketplace_views'
  | 'offer_clicks'
  | 'rev_attributed'
  | 'rev_confirmed'
  | 'rev_per_session'
  | 'widget_events'
>;

/** The figures of an answer, or of one of its days. */
export function readFigures(view: FiguresView): ReportedFigures {
  return {
    sessions: view.sessions_total,
    views: view.marketplace_views,
    clicks: view.offer_clicks,
    attributedCents: Math.round(view.rev_attributed * 100),
    confirmedCents: Math.round(view.rev_confirmed * 100),
    meanConfirmedMicros: Math.round(view.rev_per_session * 1_000_000),
    widgetEvents: widgetEventTypes.map((type) => view.widget_events[type]),
  };
}

/**
 * The figures of a summary, after a look at what must hold within it: the same clicks and payouts lie behind every way of
 * breaking them down.
 */
export function readSummary(summary: SummaryView): ReportedFigures {
  const told = readFigures(summary);
  const { top_lenders: lenders, by_device } = summary;
  const devices = Object.values(by_device);
  const lenderClicks = sumOf(lenders, ({ clicks }) => clicks);
  const isWholeList = lenders.length < lendersListed;
  if (
    lenderClicks > told.clicks ||
    (isWholeList && lenderClicks !== told.clicks) ||
    (isWholeList && !areParts(lenders, told.confirmedCents)) ||
    !areParts(devices, told.confirmedCents) ||
    sumOf(devices, (device) => device.sessions_total) !== told.sessions ||
    sumOf(devices, (device) => device.offer_clicks) !== told.clicks
  ) {
    throw new Error(`figures that contradict each other: ${JSON.stringify(summary)}`);
  }
  return told;
}

/** As many lenders as `top_lenders` may name (docs/contract.md#summary). */
const lendersListed = 20;

/** Whether these add up to the whole, each of them and the whole being rounded to the cent for itself. */
function areParts(parts: readonly { readonly rev_confirmed: number }[], wholeCents: number): boolean {
  const sum = sumOf(parts, ({ rev_confirmed }) => Math.round(rev_confirmed * 100));
  return Math.abs(sum - wholeCents) <= (parts.length + 1) / 2;
}

function sumOf<Item>(items: readonly Item[], figureOf: (item: Item) => number): number {
  return items.reduce((sum, item) => sum + figureOf(item), 0);
}

export function cents(micros: number): number {
  return halfUp(micros, 10_000);
}

/** In whole numbers alone, so that nothing is lost on the way. */
function halfUp(part: number, whole: number): number {
  return Math.floor((2 * part + whole) / (2 * whole));
}

/** What a row tells of its session's events. */
interface RowFigures {
  readonly tag: string;
  readonly isSandbox: boolean;
  readonly views: number;
  readonly clicks: number;
  readonly attributedCents: number;
  readonly confirmedCents: number;
  readonly lenders: readonly { readonly lender: string; readonly clicks: number; readonly confirmedCents: number }[];
}

export function readRow(row: RowView): RowFigures {
  return {
    tag: row.referrer_tag,
    isSandbox: row.sandbox,
    views: row.marketplace_views,
    clicks: row.offer_clicks,
    attributedCents: Math.round(row.rev_attributed * 100),
    confirmedCents: Math.round(row.rev_confirmed * 100),
    lenders: row.lenders.map(({ lender, clicks, rev_confirmed }) => ({
      lender,
      clicks,
      confirmedCents: Math.round(rev_confirmed * 100),
    })),
  };
}

/** What the row of a session must tell. */
export function expectedRow(session: SessionRecord): RowFigures {
  const { tag, mode, figures, counted, payouts } = session;
  const lenders = new Map<string, { clicks: number; confirmedMicros: number }>();
  for (const offerId of counted) {
    const lender = lenderOf(offerId, mode);
    const sum = lenders.get(lender) ?? { clicks: 0, confirmedMicros: 0 };
    lenders.set(lender, { ...sum, clicks: sum.clicks + 1 });
  }
  // Only clicks that count have payouts.
  for (const row of payouts.rows) lenders.get(lenderOf(row.offerId, mode))!.confirmedMicros += revenueChangeMicros(row);
  return {
    tag,
    isSandbox: mode === 'test',
    views: figures.views,
    clicks: figures.clicks,
    attributedCents: cents(figures.attributedMicros),
    confirmedCents: cents(figures.confirmedMicros),
    lenders: [...lenders]
      .map(([lender, { clicks, confirmedMicros }]) => ({ lender, clicks, confirmedCents: cents(confirmedMicros) }))
      .sort((a, b) => b.clicks - a.clicks || (a.lender < b.lender ? -1 : 1)),
  };
}
