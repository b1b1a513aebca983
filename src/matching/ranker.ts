import type { FieldVector } from '../verticals/field-vector.ts';
import { productOf } from '../verticals/products.ts';
import type { MatchTables } from './match-tables.ts';
import type { RankedOffers } from './matcher.ts';

/**
 * Finds the offers that a borrower can get, and the best of these offers in four sort orders (docs/contract.md#sort-orders). `today` is
 * a compact date (YYYYMMDD). `unavailable` is the bit set of the offers at their daily cap (`UnavailableOffers`).
 */
export function rankOffers(
  tables: MatchTables,
  borrower: Readonly<FieldVector>,
  today: number,
  unavailable: Int32Array | null = null,
): RankedOffers {
  return productOf(tables).rank(tables, borrower, today, unavailable);
}

/** Builds the slowest indexes of a catalog, so that the first requests do not wait for them. */
export function prepareRanking(tables: MatchTables): void {
  productOf(tables).prepareRanking(tables);
}
