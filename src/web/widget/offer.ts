/** Members that one product adds to its offers. A later version of the service may add members, omit members or send null. */
type Figures<Members> = { readonly [Name in keyof Members]?: Members[Name] | null };

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
  readonly card?: CardFigures;
  readonly mortgage?: MortgageFigures;
  readonly deposit?: DepositFigures;
}

export interface IntroductoryApr {
  readonly percent: number;
  readonly months: number;
}

/** Fee of `percent` of an amount, but at least `min`. */
export interface TransactionFee {
  readonly percent: number;
  readonly min: number;
}

export interface Reward {
  /** Spending category; `base` is the rate of all other purchases. */
  readonly category: string;
  readonly percent: number;
}

/** Figures of a credit card (docs/contract.md#offers). */
export type CardFigures = Figures<{
  name: string;
  purchase_apr: NumberRange;
  transfer_apr: NumberRange;
  cash_advance_apr: number;
  penalty_apr: number;
  intro_purchase_apr: IntroductoryApr;
  intro_transfer_apr: IntroductoryApr;
  annual_fee: number;
  annual_fee_first_year: number;
  minimum_interest_charge: number;
  transfer_fee: TransactionFee;
  cash_advance_fee: TransactionFee;
  foreign_transaction_fee_percent: number;
  late_fee_max: number;
  returned_payment_fee_max: number;
  grace_period_days: number;
  balance_method: string;
  variable: boolean;
  rewards: readonly Reward[];
  bonus: { readonly value: number; readonly spend: number; readonly months: number };
  security_deposit_min: number;
  security_deposit_max: number;
  first_year_value: number;
}>;

/** Payments of a loan from one month to the next change of the rate or of the payment. */
export interface PaymentPeriod {
  readonly from_month: number;
  readonly rate: number;
  readonly payment: number;
}

export type AdjustableRate = Figures<{
  index_percent: number;
  margin_percent: number;
  fully_indexed_rate: number;
  caps_percent: { readonly first: number; readonly periodic: number; readonly lifetime: number };
  adjustment_months: number;
  payments: readonly PaymentPeriod[];
}>;

/** Figures of a mortgage (docs/contract.md#offers). */
export type MortgageFigures = Figures<{
  loan_type: string;
  rate_type: string;
  rate: number;
  /** Months before the rate of an adjustable loan may change. */
  fixed_months: number;
  points_percent: number;
  lender_fees: number;
  loan_amount: number;
  ltv_percent: number;
  principal_and_interest: number;
  mortgage_insurance: number;
  mortgage_insurance_months: number;
  upfront_premium: number;
  adjustable: AdjustableRate;
  cost_over_five_years: number;
  lock_days: number;
  nmls_id: string;
}>;

interface DepositTier {
  readonly from: number;
  readonly rate: number;
  readonly apy: number;
}

/** Figures of a deposit account (docs/contract.md#offers). */
export type DepositFigures = Figures<{
  name: string;
  apy: number;
  rate: number;
  compounding: string;
  tiers: readonly DepositTier[];
  tier_method: string;
  term_months: number;
  minimum_deposit: number;
  minimum_balance_for_apy: number;
  monthly_fee: number;
  fee_waived_from: number;
  early_withdrawal_penalty_days: number;
  bonus: {
    readonly amount: number;
    readonly requirement: string;
    readonly days: number;
    readonly minimum_deposit?: number | null;
    readonly paid_within_days?: number | null;
  };
  introductory: { readonly rate: number; readonly months: number };
  steps: readonly { readonly from_month: number; readonly rate: number }[];
  insured_by: string;
  certificate_number: string;
  variable: boolean;
  first_year_earnings: number;
}>;
