/**
 * A vertical is data (docs/contract.md#verticals): path segment, key prefix, revenue model, status, pocket fields, and
 * which of them play a part in pricing. No operation knows a vertical by name.
 */
export interface Vertical {
  /** Travels inside every sub_id, so it is never reused or renumbered: 1 to 127. */
  readonly number: number;
  /** The path segment after `/v1/`. */
  readonly segment: string;
  /** What its API keys start with, e.g. `svc_pl_`. */
  readonly keyPrefix: string;
  readonly revenueModel: 'cost_per_lead' | 'cost_per_click';
  readonly status: 'stable' | 'beta';
  /** What its offers are; `installment_loan` if not given. */
  readonly product?: ProductName;
  /** In a fixed order: a session keeps its values in a vector of the same order, so new fields go at the end. */
  readonly fields: readonly PocketField[];
  /** Names of the fields offers cannot be matched without, in the order `missing_required` lists them. */
  readonly required: readonly string[];
  readonly conditional: readonly ConditionalField[];
  readonly roles: PricingRoles;
  /**
   * The credit scores that each value of the credit band stands for, in the order of those values and both ends included;
   * missing where bands are no ranges of scores. A least score can only be asked for where they are known.
   */
  readonly creditScores?: readonly { readonly min: number; readonly max: number }[];
  /** Fields without influence on offers (docs/contract.md#fairness). A catalog with a criterion on one of them is refused. */
  readonly neverMatched?: readonly string[];
}

/** The kind of product that a vertical sells: `products.ts` has the rules of each. */
export type ProductName = 'installment_loan';

/** A field that raises readiness to `high` only where another field holds a value (docs/contract.md#match-readiness). */
export interface ConditionalField {
  readonly field: string;
  readonly when: { readonly field: string; readonly is: string };
}

/** Which pocket field plays which part in eligibility and price. Optional parts may be missing in a vertical. */
export interface PricingRoles {
  /** Integer USD: the amount asked for. */
  readonly amount: string;
  /** Choice, worst to best: the band prices are quoted for. */
  readonly creditBand: string;
  /** Integer USD a year, gross. */
  readonly annualIncome: string;
  /** Choice of USPS codes: where the state rules of the catalog apply. */
  readonly state: string;
  /** Integer choice of months: the term asked for. */
  readonly term?: string;
  /** Integer USD a month: debt payments already running. */
  readonly monthlyDebt?: string;
  /** Birthdate: whose age the age of contract of a state is compared with. */
  readonly birthdate?: string;
  /** Boolean: whether somebody applies together with the borrower. */
  readonly coBorrower?: string;
}

/** One thing a borrower may be asked. */
export type PocketField = {
  readonly name: string;
  /** What it means, in a sentence for those who build a form: it goes into the OpenAPI document. */
  readonly description?: string;
} & FieldValues;

/** What a pocket field may hold (docs/contract.md#field-values), and so how its value is kept as one number, from 0 to 2,147,483,647. */
type FieldValues =
  /** A whole number; kept as itself. */
  | { readonly kind: 'integer'; readonly min: number; readonly max: number }
  /** One of some words; kept as the index of the word. */
  | { readonly kind: 'choice'; readonly values: readonly string[] }
  /** One of some whole numbers; kept as itself. */
  | { readonly kind: 'integer_choice'; readonly values: readonly number[] }
  /** Kept as 0 or 1. */
  | { readonly kind: 'boolean' }
  /** A calendar date `YYYY-MM-DD`; kept as the integer YYYYMMDD. Ages are completed years on the current UTC day. */
  | { readonly kind: 'birthdate'; readonly minAgeYears: number; readonly maxAgeYears: number }
  /** Exactly `length` decimal digits; kept as the number they spell. */
  | { readonly kind: 'digits'; readonly length: number };
