import type { CancelSignal } from '../domain/async.ts';
import { failed, invalidRequest, type Outcome, succeeded } from '../domain/outcome.ts';
import type { Session } from '../sessions/session-store.ts';
import { fieldIndex } from '../verticals/field-vector.ts';
import { computeReadiness } from '../verticals/pocket-fields.ts';
import { parseWidgetLoadId } from '../widgets/widget-beacon.ts';
import { type MarketplaceRequest, parseOfferSelection } from './get-marketplace.ts';
import type { MarketplaceView } from './marketplace-view.ts';
import { type OffersResult, type ShowOffersDeps, showOffers } from './show-offers.ts';

interface WidgetOffersRequest extends Pick<MarketplaceRequest, 'max_offers' | 'sort'> {
  /** ID of the widget load: 16 lower-case hex digits. */
  readonly load?: string | undefined;
}

/** The response of `GET /w/offers`: the members of an API response with offers except `explain`, and two members about the session. */
export interface WidgetOffersView extends Omit<MarketplaceView, 'explain' | 'ignored'> {
  /** Requested loan amount in USD. All payments are calculated for this amount. */
  readonly loan_amount: number;
  /** Expiry time of the session and the token. */
  readonly expires_at: string;
}

export interface WidgetOffers {
  readonly result: OffersResult;
  /** Requested loan amount in USD. */
  readonly loanAmount: number;
  readonly expiresMs: number;
}

/**
 * Selects the offers of a widget (docs/contract.md#widget-views). The first response to a widget load counts as one view; later
 * responses count none. Returns a value or a promise, as `showOffers` does.
 */
export function showWidgetOffers(
  deps: ShowOffersDeps,
  session: Session,
  { subId, expiresMs }: { readonly subId: string; readonly expiresMs: number },
  request: WidgetOffersRequest,
  countsAsView: boolean,
  signal: CancelSignal,
): Outcome<WidgetOffers> | Promise<Outcome<WidgetOffers>> {
  const load = parseWidgetLoadId(request.load);
  if (load === null) return invalidRequest('load');
  const selection = parseOfferSelection(request);
  if (!selection.ok) return selection;
  const { vertical } = session.tenant;
  const { fields: borrower, revision } = session;
  const readiness = computeReadiness(vertical, borrower);
  if (readiness.matchReadiness === 'insufficient') {
    return failed({ code: 'INSUFFICIENT_INPUTS', missingRequired: readiness.missingRequired });
  }
  const loanAmount = borrower[fieldIndex(vertical, vertical.roles.amount)]!;
  const addSessionMembers = (outcome: Outcome<OffersResult>): Outcome<WidgetOffers> =>
    outcome.ok ? succeeded({ result: outcome.value, loanAmount, expiresMs }) : outcome;
  const outcome = showOffers(deps, session, {
    subId,
    borrower,
    revision,
    readiness,
    ...selection.value,
    explain: false,
    countsAsView,
    load: { id: load, usage: session.widgetUsage },
    signal,
  });
  return outcome instanceof Promise ? outcome.then(addSessionMembers) : addSessionMembers(outcome);
}
