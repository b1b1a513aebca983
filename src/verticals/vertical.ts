/**
 * A vertical (docs/contract.md#verticals). It is plain data, so that it can be sent to threads; `products.ts` has the rules of its
 * product. No operation depends on a particular vertical.
 */
export interface Vertical {
  /** Number of the vertical, 1 to 127. Part of every sub_id, so it must never change or be reused. */
  readonly number: number;
  /** Path segment of the URLs, after `/v1/`. */
  readonly segment: string;
  /** Prefix of the vertical's API keys, e.g. `svc_pl_`. */
  readonly keyPrefix: string;
  readonly revenueModel: 'cost_per_lead' | 'cost_per_click';
  readonly status: 'stable' | 'beta';
  /** Kind of product that the offers are; default: `installment_loan`. */
  readonly product?: ProductName;
  /** Pocket fields. Sessions store values in this order, so new fields must be added at the end. */
  readonly fields: readonly PocketField[];
  /** Names of the fields that matching requires, in the order of `missing_required`. */
  readonly required: readonly string[];
  readonly conditional: readonly ConditionalField[];
  readonly roles: FieldRoles;
  /**
   * Range of credit scores, inclusive, for each value of the credit band, in the order of the values. Offers can have a minimum score
   * only if these ranges are given.
   */
  readonly creditScores?: readonly { readonly min: number; readonly max: number }[];
  /** Fields that must not influence offers (docs/contract.md#fairness). A catalog with a criterion on such a field is invalid. */
  readonly neverMatched?: readonly string[];
}

/** Kind of product that a vertical sells. `products.ts` has the rules of each kind. */
export type ProductName = 'installment_loan';

/** A field that readiness `high` requires only if another field has a certain value (docs/contract.md#match-readiness). */
export interface ConditionalField {
  readonly field: string;
  readonly when: { readonly field: string; readonly is: string };
}

/** Names of the fields that eligibility and prices depend on. */
export interface FieldRoles {
  /** Requested amount: an integer field, in USD. */
  readonly amount: string;
  /** Credit band: a choice field, with values from worst to best. */
  readonly creditBand: string;
  /** Gross annual income: an integer field, in USD. */
  readonly annualIncome: string;
  /** State of residence: a choice field with USPS codes. Selects the state rules of the catalog. */
  readonly state: string;
  /** Requested term: an integer choice field, in months. */
  readonly term?: string;
  /** Monthly payments on existing debt: an integer field, in USD. */
  readonly monthlyDebt?: string;
  /** Birthdate. Used with the minimum age for contracts of the state. */
  readonly birthdate?: string;
  /** Whether a co-borrower applies with the borrower: a boolean field. */
  readonly coBorrower?: string;
}

export type PocketField = {
  readonly name: string;
  /** Description of the field in the OpenAPI document: one sentence. */
  readonly description?: string;
} & FieldValues;

/** Allowed values of a pocket field (docs/contract.md#field-values). Each value is encoded as an integer from 0 to 2,147,483,647. */
type FieldValues =
  /** A whole number, encoded as itself. */
  | { readonly kind: 'integer'; readonly min: number; readonly max: number }
  /** A word from a list, encoded as its index in the list. */
  | { readonly kind: 'choice'; readonly values: readonly string[] }
  /** A whole number from a list, encoded as itself. */
  | { readonly kind: 'integer_choice'; readonly values: readonly number[] }
  /** True or false, encoded as 1 or 0. */
  | { readonly kind: 'boolean' }
  /** A calendar date `YYYY-MM-DD`, encoded as the integer YYYYMMDD. Ages are in completed years on the current UTC day. */
  | { readonly kind: 'birthdate'; readonly minAgeYears: number; readonly maxAgeYears: number }
  /** A text of exactly `length` decimal digits, encoded as their number. */
  | { readonly kind: 'digits'; readonly length: number };
