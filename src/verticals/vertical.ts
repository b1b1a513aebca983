/**
 * A vertical (docs/contract.md#verticals). Plain data, so that it can be sent to threads; `products.ts` has the rules of its product.
 * Operations do not depend on any particular vertical.
 */
export interface Vertical {
  /** 1 to 127. Part of every sub_id, so it must never change or be reused. */
  readonly number: number;
  /** The path segment after `/v1/`. */
  readonly segment: string;
  /** Prefix of its API keys, e.g. `svc_pl_`. */
  readonly keyPrefix: string;
  readonly revenueModel: 'cost_per_lead' | 'cost_per_click';
  readonly status: 'stable' | 'beta';
  /** What its offers are; `installment_loan` if not given. */
  readonly product?: ProductName;
  /** Sessions store values in this order, so new fields must be added at the end. */
  readonly fields: readonly PocketField[];
  /** Names of the fields that matching requires, in the order of `missing_required`. */
  readonly required: readonly string[];
  readonly conditional: readonly ConditionalField[];
  readonly roles: PricingRoles;
  /**
   * The range of credit scores, both ends inclusive, for each value of the credit band in its order. Offers can only have a minimum
   * score if these ranges are given.
   */
  readonly creditScores?: readonly { readonly min: number; readonly max: number }[];
  /** Fields that must not influence offers (docs/contract.md#fairness). Catalogs with a criterion on one of them are invalid. */
  readonly neverMatched?: readonly string[];
}

/** The kind of product that a vertical sells: `products.ts` has the rules of each. */
export type ProductName = 'installment_loan';

/** A field that readiness `high` requires if another field has a certain value (docs/contract.md#match-readiness). */
export interface ConditionalField {
  readonly field: string;
  readonly when: { readonly field: string; readonly is: string };
}

/** Names of the fields that eligibility and prices depend on. */
export interface PricingRoles {
  /** Requested amount: integer, in USD. */
  readonly amount: string;
  /** Credit band: choice, from worst to best. */
  readonly creditBand: string;
  /** Gross annual income: integer, in USD. */
  readonly annualIncome: string;
  /** State, by which the state rules of the catalog apply: choice of USPS codes. */
  readonly state: string;
  /** Requested term: integer choice, in months. */
  readonly term?: string;
  /** Payments on existing debt: integer, in USD a month. */
  readonly monthlyDebt?: string;
  /** Birthdate, by which the age of contract of a state applies. */
  readonly birthdate?: string;
  /** Whether somebody applies together with the borrower: boolean. */
  readonly coBorrower?: string;
}

export type PocketField = {
  readonly name: string;
  /** A sentence for the OpenAPI document. */
  readonly description?: string;
} & FieldValues;

/** Allowed values of a pocket field (docs/contract.md#field-values). Each is encoded as an integer from 0 to 2,147,483,647. */
type FieldValues =
  /** A whole number; encoded as itself. */
  | { readonly kind: 'integer'; readonly min: number; readonly max: number }
  /** One of some words; encoded as its index. */
  | { readonly kind: 'choice'; readonly values: readonly string[] }
  /** One of some whole numbers; encoded as itself. */
  | { readonly kind: 'integer_choice'; readonly values: readonly number[] }
  /** Encoded as 0 or 1. */
  | { readonly kind: 'boolean' }
  /** A calendar date `YYYY-MM-DD`; encoded as the integer YYYYMMDD. Ages are completed years on the current UTC day. */
  | { readonly kind: 'birthdate'; readonly minAgeYears: number; readonly maxAgeYears: number }
  /** Exactly `length` decimal digits; encoded as their number. */
  | { readonly kind: 'digits'; readonly length: number };
