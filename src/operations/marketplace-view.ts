import type { Explanation } from '../offers/explain-offers.ts';
import type { SortOrder } from '../offers/matcher.ts';
import type { IgnoredNames } from './ignored-names.ts';

/** One offer of the marketplace (docs/contract.md#offers), as `offers/offer-json.ts` writes it. */
export interface OfferView {
  readonly svc_offer_id: string;
  readonly lender_name: string;
  readonly logo_url: string;
  readonly apr_range: { readonly min: number; readonly max: number };
  /** The term, in months, that the monthly payment is for. */
  readonly payment_term_months: number;
  readonly monthly_payment_estimate: number;
  readonly svc_star_rating: number;
  readonly features: readonly string[];
  readonly prequalification: boolean;
  readonly click_url: string;
  readonly loan_amount_range: { readonly min: number; readonly max: number };
  readonly term_months: readonly number[];
  readonly position: number;
}

/** The marketplace envelope (docs/contract.md#envelope), as `show-offers.ts` writes it. */
export interface MarketplaceView extends IgnoredNames {
  readonly sub_id: string;
  readonly match_quality: 'high' | 'partial' | 'none';
  readonly offers: readonly OfferView[];
  readonly total_offers: number;
  readonly generated_at: string;
  readonly sort: SortOrder;
  readonly catalog_version: string;
  readonly disclosure: string;
  /** Where it was asked for. */
  readonly explain?: Explanation;
}
