import type { FieldVector } from '../domain/field-vector.ts';
import type { MatchTables } from './match-tables.ts';

/** Reasons why an offer is not shown to a borrower, with the names that the API returns (docs/api.md). */
export const mismatchReasons = [
  'not_told',
  'not_accepted',
  'amount_too_low',
  'amount_too_high',
  'amount_too_low_in_state',
  'apr_above_cap',
  'debt_to_income',
  'loan_to_value_too_high',
  'outdated',
  'daily_cap',
  'budget',
  'paced',
] as const;
export type MismatchReason = (typeof mismatchReasons)[number];

/** Called for each reason that excludes an offer. `field` is the position of the mismatched pocket field, or -1 if there is none. */
export type MismatchCallback = (reason: MismatchReason, field: number) => void;

/** Ranking whose sort orders are an array, not a packed string as in `Ranking` of the matcher. */
export interface RankedOffers {
  readonly total: number;
  readonly availableOnly: boolean;
  readonly orders: Uint16Array;
}

/** Functions with which a product ranks its offers. They accept only tables that were compiled for the same product. */
export interface ProductRanking {
  /** @param unavailable bit set of the unavailable offers (`UnavailableOffers`) */
  rankOffers(
    tables: MatchTables,
    borrower: Readonly<FieldVector>,
    today: number,
    unavailable: Int32Array | null,
  ): RankedOffers;
  /** Returns a function that checks whether the borrower meets an offer's price rules, or null if the borrower lacks required fields. */
  createAvailabilityCheck(tables: MatchTables, borrower: Readonly<FieldVector>): ((offer: number) => boolean) | null;
  /** Returns a function that reports each price rule of an offer that the borrower does not meet. */
  createMismatchFinder(
    tables: MatchTables,
    borrower: Readonly<FieldVector>,
  ): (offer: number, add: MismatchCallback) => void;
}

/** Compiled catalog that requests are matched with. */
export interface MatchCatalog {
  readonly version: string;
  readonly tables: MatchTables;
  readonly product: ProductRanking;
}
