import type { CancelSignal } from '../domain/async.ts';
import { isoTimestamp } from '../domain/calendar.ts';
import { invalidRequest, type Outcome, refused } from '../domain/outcome.ts';
import type { Session } from '../sessions/session-store.ts';
import { fieldIndex } from '../verticals/field-vector.ts';
import { computeReadiness } from '../verticals/readiness.ts';
import { parseWidgetLoadId } from '../widgets/widget-beacon.ts';
import { type MarketplaceRequest, parseOfferSelection } from './get-marketplace.ts';
import type { MarketplaceView } from './show-offers.ts';
import { type ShowOffersDeps, showOffers } from './show-offers.ts';

interface WidgetOffersRequest extends Pick<MarketplaceRequest, 'max_offers' | 'sort'> {
  /** The id of the widget load that asks: 16 lower-case hex digits. */
  readonly load?: string | undefined;
}

/** What `GET /w/offers` answers: the envelope of the API without an explanation, and what the cards are for. */
export interface WidgetOffersView extends Omit<MarketplaceView, 'explain' | 'ignored'> {
  /** What the borrower asked for, in USD: every payment is for it. */
  readonly loan_amount: number;
  /** When session and token end. */
  readonly expires_at: string;
}

/**
 * The offers of a widget (docs/contract.md#widget-views): the envelope, with `loan_amount`, which every payment in it is for, and
 * `expires_at` before it, as JSON text. The first answer to a load is its view; others show offers without being one.
 */
export async function showWidgetOffers(
  ports: ShowOffersDeps,
  session: Session,
  { subId, expiresMs }: { readonly subId: string; readonly expiresMs: number },
  request: WidgetOffersRequest,
  counts: boolean,
  signal: CancelSignal,
): Promise<Outcome<string>> {
  const load = parseWidgetLoadId(request.load);
  if (load === null) return invalidRequest('load');
  const selection = parseOfferSelection(request);
  if (!selection.ok) return selection;
  const { vertical } = session.tenant;
  const { fields: borrower, revision } = session;
  const readiness = computeReadiness(vertical, borrower);
  if (readiness.matchReadiness === 'insufficient') {
    return refused({ code: 'INSUFFICIENT_INPUTS', missingRequired: readiness.missingRequired });
  }
  const outcome = await showOffers(ports, session, {
    subId,
    borrower,
    revision,
    readiness,
    ...selection.value,
    explain: false,
    counts,
    load: { id: load, usage: session.widgetUsage },
    signal,
  });
  if (!outcome.ok) return outcome;
  const amount = borrower[fieldIndex(vertical, vertical.roles.amount)]!;
  const own = `{"loan_amount":${amount},"expires_at":"${isoTimestamp(expiresMs)}",`;
  return { ok: true, value: own + outcome.value.slice(1) };
}
