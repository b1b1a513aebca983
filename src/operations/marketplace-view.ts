import { isoTimestamp } from '../domain/calendar.ts';
import type { Explanation } from '../matching/explain-offers.ts';
import type { SortOrder } from '../matching/matcher.ts';
import { type OfferView, productOf } from '../verticals/products.ts';
import type { IgnoredNames } from './ignored-names.ts';
import type { OffersResult } from './show-offers.ts';

/** The JSON response with offers, called envelope (docs/contract.md#envelope). */
export interface MarketplaceView extends IgnoredNames {
  readonly sub_id: string;
  readonly match_quality: 'high' | 'partial' | 'none';
  readonly offers: readonly OfferView[];
  readonly total_offers: number;
  readonly generated_at: string;
  readonly sort: SortOrder;
  readonly catalog_version: string;
  readonly disclosure: string;
  /** Explanation of the ranking; present only if the request asked for it. */
  readonly explain?: Explanation;
}

/**
 * Builds the response with offers as an object. `renderMarketplaceJson` of the HTTP routes renders the same members as JSON text.
 *
 * @param clickUrlPrefix start of each click URL, up to the sub_id
 */
export function toMarketplaceView(result: OffersResult, clickUrlPrefix: string): MarketplaceView {
  const { catalog, explanation } = result;
  return {
    sub_id: result.subId,
    match_quality: result.matchQuality,
    offers: productOf(catalog.vertical).toOfferViews(result, clickUrlPrefix),
    total_offers: result.totalOffers,
    generated_at: isoTimestamp(result.generatedMs),
    sort: result.sort,
    catalog_version: catalog.version,
    disclosure: catalog.disclosure,
    ...(explanation !== null && { explain: explanation }),
  };
}
