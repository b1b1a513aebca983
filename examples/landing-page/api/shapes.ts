/** What this page reads of the API's answers; docs/api.md has the rest. */
export interface SessionResponse {
  readonly sub_id: string;
  /** A test key made it: its offers are made up. */
  readonly sandbox: boolean;
}

export interface InputsResponse {
  readonly match_readiness: 'high' | 'partial' | 'insufficient';
  readonly missing_required: readonly string[];
  readonly missing_conditional: readonly string[];
}

interface NumberRange {
  readonly min: number;
  readonly max: number;
}

export interface Offer {
  readonly svc_offer_id: string;
  readonly lender_name: string;
  readonly logo_url: string;
  /** Percent. */
  readonly apr_range: NumberRange;
  /** USD, for the amount asked for. */
  readonly monthly_payment_estimate: number;
  /** The term that the payment is for. */
  readonly payment_term_months?: number;
  readonly loan_amount_range: NumberRange;
  readonly term_months: readonly number[];
  readonly svc_star_rating: number;
  readonly features: readonly string[];
  readonly prequalification: boolean;
  readonly click_url: string;
}

export interface OffersResponse {
  readonly offers: readonly Offer[];
  readonly total_offers: number;
  readonly disclosure: string;
}

export interface EmbedResponse {
  readonly format: 'iframe' | 'js';
  /** To be put into the page as it is. */
  readonly html: string;
  /** Address of the frame, or of the script. */
  readonly src: string;
}

export interface SummaryResponse {
  readonly sessions_total: number;
  readonly marketplace_views: number;
  readonly offer_clicks: number;
  /** Clicks a view. */
  readonly click_rate: number;
  readonly rev_attributed: number;
  readonly rev_confirmed: number;
  readonly rev_per_session: number;
  readonly sessions_matured: number;
  readonly rev_per_session_matured: number | null;
  readonly rev_per_session_ci95: { readonly low: number; readonly high: number } | null;
  /** Null while nothing has happened yet. */
  readonly as_of: string | null;
}

/** Why one field was refused. */
export interface InvalidField {
  readonly field: string;
  readonly code: string;
  readonly message: string;
  readonly min?: number;
  readonly max?: number;
}
