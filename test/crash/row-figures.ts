import type { RowView } from '../../src/index.ts';
import { cents } from './figures.ts';
import { lenderOf } from './offer-link.ts';
import { changeMicros } from './payouts.ts';
import type { SessionRecord } from './session-record.ts';

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

export function rowFiguresOf(row: RowView): RowFigures {
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
export function tellRow(session: SessionRecord): RowFigures {
  const { tag, mode, figures, counted, payouts } = session;
  const lenders = new Map<string, { clicks: number; confirmedMicros: number }>();
  for (const offerId of counted) {
    const lender = lenderOf(offerId, mode);
    const sum = lenders.get(lender) ?? { clicks: 0, confirmedMicros: 0 };
    lenders.set(lender, { ...sum, clicks: sum.clicks + 1 });
  }
  // Only clicks that count have payouts.
  for (const row of payouts.rows) lenders.get(lenderOf(row.offerId, mode))!.confirmedMicros += changeMicros(row);
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
