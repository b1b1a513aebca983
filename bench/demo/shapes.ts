/** What the demo reads of the answers (docs/contract.md#operations). */
export interface SessionResponse {
  readonly sub_id: string;
  readonly expires_at: string;
  readonly sandbox: boolean;
}

export interface InputsResponse {
  readonly fields_accepted: readonly string[];
  readonly match_readiness: string;
  readonly missing_required: readonly string[];
}

export interface Offer {
  readonly svc_offer_id: string;
  readonly lender_name: string;
  readonly apr_range: { readonly min: number; readonly max: number };
  readonly monthly_payment_estimate: number;
  readonly svc_star_rating: number;
  readonly click_url: string;
}

export interface MarketplaceResponse {
  readonly match_quality: string;
  readonly offers: readonly Offer[];
  readonly total_offers: number;
}

export interface SummaryResponse {
  readonly referrer_tag: string;
  readonly sessions_total: number;
  readonly marketplace_views: number;
  readonly offer_clicks: number;
  readonly click_rate: number;
  readonly rev_attributed: number;
  readonly rev_confirmed: number;
  readonly rev_per_session: number;
  readonly top_lenders: readonly { readonly lender: string; readonly clicks: number }[];
}

export const sortOrders = ['recommended', 'lowest_apr', 'highest_amount', 'svc_revenue'] as const;
