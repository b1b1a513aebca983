import type { Vertical } from '../verticals/vertical.ts';
import type { CatalogOffer } from './catalog-schema.ts';

/** What an offer pays for: its own word, or else what its vertical is paid for (docs/contract.md#click-revenue). */
export function offerPayoutModel(offer: CatalogOffer, vertical: Vertical): Vertical['revenueModel'] {
  return offer.payout_model ?? vertical.revenueModel;
}
