/** An offer as the widget's server answers it (docs/contract.md#offers): money in USD, rates in percent. */
export interface Offer {
  readonly svc_offer_id: string;
  readonly lender_name: string;
  readonly logo_url: string;
  readonly apr_range: NumberRange;
  readonly monthly_payment_estimate: number;
  /** The term that the payment is for. */
  readonly payment_term_months: number;
  readonly loan_amount_range: NumberRange;
  readonly svc_star_rating: number;
  readonly features: readonly string[];
  readonly prequalification: boolean;
  readonly click_url: string;
  readonly term_months: readonly number[];
}

export interface NumberRange {
  readonly min: number;
  readonly max: number;
}

export interface OffersResponse {
  readonly offers: readonly Offer[];
  readonly total_offers: number;
  /** What the borrower asked for, and what every payment is for. */
  readonly loan_amount: number;
  readonly disclosure: string;
  /** When the server made this, and until when it holds, by the server's clock (ISO 8601). */
  readonly generated_at: string;
  readonly expires_at: string;
}
