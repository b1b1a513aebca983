/**
 * Figures of an offer that only one product has, such as `card`. The file of each product in `products/` describes its figures. A later
 * version of the service may add members, omit members or send null.
 */
export type Figures<Members> = { readonly [Name in keyof Members]?: Members[Name] | null };

export interface NumberRange {
  readonly min: number;
  readonly max: number;
}

/** An offer in the response of the server (docs/contract.md#offers). Amounts are in USD, rates in percent. */
export interface Offer {
  readonly svc_offer_id: string;
  readonly lender_name: string;
  readonly logo_url: string;
  readonly apr_range: NumberRange | null;
  readonly monthly_payment_estimate: number | null;
  /** Loan term in months for which the monthly payment is estimated. */
  readonly payment_term_months: number | null;
  readonly loan_amount_range: NumberRange | null;
  readonly svc_star_rating: number;
  readonly features: readonly string[];
  readonly prequalification: boolean;
  /** The lender's own disclosure. */
  readonly legal?: string;
  /** Page of the lender with the terms of the offer. */
  readonly terms_url?: string;
  /** Date on which the lender confirmed the figures, YYYY-MM-DD. */
  readonly as_of?: string;
  readonly click_url: string;
  readonly term_months: readonly number[];
}
