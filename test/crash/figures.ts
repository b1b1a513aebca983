import type { SummaryView } from '../../src/index.ts';

/** What the analytics say of one session, or of many, apart from how many they are. */
export interface Figures {
  readonly views: number;
  readonly clicks: number;
  readonly attributedMicros: number;
}

export const noFigures: Figures = { views: 0, clicks: 0, attributedMicros: 0 };

export function addFigures(a: Figures, b: Figures): Figures {
  return {
    views: a.views + b.views,
    clicks: a.clicks + b.clicks,
    attributedMicros: a.attributedMicros + b.attributedMicros,
  };
}

/** Revenue is answered to the cent, so it is compared to the cent. */
export function sameFigures(a: Figures, b: Figures): boolean {
  return a.views === b.views && a.clicks === b.clicks && cents(a.attributedMicros) === cents(b.attributedMicros);
}

/**
 * The figures of an answer, after a look at what must hold within it: the same clicks lie behind every way of breaking
 * them down, and nobody confirms anything here.
 */
export function figuresOf(summary: SummaryView): Figures {
  const {
    marketplace_views: views,
    offer_clicks: clicks,
    rev_attributed,
    rev_confirmed,
    top_lenders,
    by_device,
  } = summary;
  const lenderClicks = top_lenders.reduce((sum, lender) => sum + lender.clicks, 0);
  const isWholeList = top_lenders.length < lendersListed;
  const devices = Object.values(by_device);
  if (
    rev_confirmed !== 0 ||
    lenderClicks > clicks ||
    (isWholeList && lenderClicks !== clicks) ||
    devices.reduce((sum, device) => sum + device.sessions_total, 0) !== summary.sessions_total ||
    devices.reduce((sum, device) => sum + device.offer_clicks, 0) !== clicks
  ) {
    throw new Error(`figures that contradict each other: ${JSON.stringify(summary)}`);
  }
  return { views, clicks, attributedMicros: Math.round(rev_attributed * 1_000_000) };
}

/** As many lenders as `top_lenders` may name (D12). */
const lendersListed = 20;

function cents(micros: number): number {
  return Math.floor((micros + 5_000) / 10_000);
}
