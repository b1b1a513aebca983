import { isDeepStrictEqual } from 'node:util';
import type { SummaryView } from '../../src/index.ts';
import { widgetEventTypes } from '../../src/ledger/ledger-record.ts';

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
export interface ToldFigures {
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
export function tell(figures: Figures, sessions: number): ToldFigures {
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

export const sameFigures = (a: ToldFigures, b: ToldFigures): boolean => isDeepStrictEqual(a, b);

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
export function toldOf(view: FiguresView): ToldFigures {
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
export function figuresOf(summary: SummaryView): ToldFigures {
  const told = toldOf(summary);
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
