/**
 * Definition of a vertical (docs/contract.md#verticals). A `Vertical` object contains no functions, because functions cannot be sent to
 * worker threads. `VerticalProduct` describes the functions of each product.
 */
export interface Vertical {
  /** Numeric ID of the vertical, 1 to 127. The ID of a vertical must never change or be reused, because every sub_id contains the ID. */
  readonly number: number;
  /** First path segment after `/v1/` in the vertical's URLs, such as `personal-loans`. */
  readonly segment: string;
  /** Prefix of the vertical's API keys, such as `svc_pl_`. */
  readonly keyPrefix: string;
  readonly revenueModel: 'cost_per_lead' | 'cost_per_click';
  readonly status: 'stable' | 'beta';
  /**
   * Whether the booking of a click also confirms the click's revenue. Lenders then report only reversals. By default, lenders confirm the
   * revenue of clicks (docs/contract.md#confirmations).
   */
  readonly clicksConfirmRevenue?: boolean;
  /**
   * Whether a lender pays the same amount, the payout of the offer, for every lead that it accepts. A click then has at most one `funded`
   * row, of this amount (docs/contract.md#flat-payouts). By default, a click can have several payouts of any amount.
   */
  readonly flatPayout?: boolean;
  /** Name of the product of the vertical's offers, by default `installment_loan`. */
  readonly product?: string;
  /** Pocket fields. Sessions store field values in the order of `fields`, so new fields must be added at the end. */
  readonly fields: readonly PocketField[];
  /** Names of the fields that matching requires, in the order in which the API lists `missing_required`. */
  readonly required: readonly string[];
  readonly conditional: readonly ConditionalField[];
  readonly roles: FieldRoles;
  /**
   * Inclusive range of credit scores for each value of the credit band, in the order of the values. Offers of a vertical without
   * `creditScores` cannot have a minimum score.
   */
  readonly creditScores?: readonly { readonly min: number; readonly max: number }[];
  /** Sort orders that `GET /marketplace` accepts. Default: all sort orders. */
  readonly sortOrders?: readonly SortOrder[];
  /** Fields that must not influence offers (docs/contract.md#fairness). Catalog criteria cannot use a field in `neverMatched`. */
  readonly neverMatched?: readonly string[];
}

/** Name of the product of all verticals without the property `product`. */
export const defaultProductName = 'installment_loan';

/** Sort orders of a response (docs/contract.md#sort-orders), in the sequence in which a ranking contains them. */
export const sortOrderNames = ['recommended', 'lowest_apr', 'highest_amount', 'svc_revenue'] as const;
export type SortOrder = (typeof sortOrderNames)[number];

/** Field that is needed only if another field has a certain value (docs/contract.md#match-readiness). */
export interface ConditionalField {
  readonly field: string;
  readonly when: { readonly field: string; readonly is: string };
  /** Whether matching requires the field while the condition holds. Default: the field is needed only for the readiness `high`. */
  readonly isRequired?: boolean;
}

/** Names of the pocket fields that eligibility and prices depend on. A product can require more roles than `state`. */
export interface FieldRoles {
  /** State of residence: a choice field with USPS codes. The catalog can define rules for each US state. */
  readonly state: string;
  /** Requested amount: an integer field, in USD. */
  readonly amount?: string;
  /** Credit band: a choice field, with values from worst to best. */
  readonly creditBand?: string;
  /** Gross annual income: an integer field, in USD. */
  readonly annualIncome?: string;
  /** Requested loan term: a field of kind `integer_choice`, in months. */
  readonly term?: string;
  /** Monthly payments on existing debt: an integer field, in USD. */
  readonly monthlyDebt?: string;
  /** Birthdate: a field of kind `birthdate`. The state rules of a catalog can require a minimum age. */
  readonly birthdate?: string;
  /** Whether a co-borrower applies with the borrower: a boolean field. */
  readonly coBorrower?: string;
}

export type PocketField = {
  readonly name: string;
  /** One sentence that describes the field in the OpenAPI document. */
  readonly description?: string;
} & FieldValues;

/** Allowed values of a pocket field (docs/contract.md#field-values). Values are encoded as integers from 0 to 2,147,483,647. */
type FieldValues =
  /** Whole number, encoded as the same number. */
  | { readonly kind: 'integer'; readonly min: number; readonly max: number }
  /** String from the list `values`, encoded as its index in the list. */
  | { readonly kind: 'choice'; readonly values: readonly string[] }
  /** Whole number from the list `values`, encoded as the same number. */
  | { readonly kind: 'integer_choice'; readonly values: readonly number[] }
  /** Boolean, encoded as 1 (true) or 0 (false). */
  | { readonly kind: 'boolean' }
  /** Calendar date `YYYY-MM-DD`, encoded as the integer YYYYMMDD. Ages are counted in completed years on the current UTC day. */
  | { readonly kind: 'birthdate'; readonly minAgeYears: number; readonly maxAgeYears: number }
  /** String of exactly `length` decimal digits, encoded as the integer that the digits form. */
  | { readonly kind: 'digits'; readonly length: number };
