import type { FieldVector } from '../domain/field-vector.ts';
import { type MatchTables, readRangeValue } from './match-tables.ts';
import type { UnavailableOffers } from './matcher.ts';
import { lowestBitIndex } from './offer-set.ts';
import type { ProductRanking } from './product-ranking.ts';

/**
 * Returns the number of available offers that match the borrower: `total` minus the number of unavailable offers that match. `total` is the
 * number of matching offers in a ranking, and `borrower` and `today` are the values with which the ranking was computed.
 */
export function countAvailableOffers(
  product: Pick<ProductRanking, 'createAvailabilityCheck'>,
  tables: MatchTables,
  total: number,
  borrower: Readonly<FieldVector>,
  today: number,
  { bits: unavailable }: UnavailableOffers,
): number {
  if (unavailable === null || total === 0) return total;
  const hasPrice = product.createAvailabilityCheck(tables, borrower)!;
  const allowedSets = tables.choiceFilters.map(({ field, allowed }) => allowed.get(borrower[field]!)!);
  const rangeValues = tables.rangeFilters.map((filter) => readRangeValue(filter, borrower, today));
  let available = total;
  for (let word = 0; word < unavailable.length; word++) {
    let bits = unavailable[word]!;
    for (let at = 0; bits !== 0 && at < allowedSets.length; at++) bits &= allowedSets[at]![word]!;
    for (; bits !== 0; bits &= bits - 1) {
      const offer = (word << 5) + lowestBitIndex(bits);
      if (isWithinRanges(tables, offer, rangeValues) && hasPrice(offer)) available--;
    }
  }
  return available;
}

function isWithinRanges({ rangeFilters }: MatchTables, offer: number, values: readonly number[]): boolean {
  for (let at = 0; at < rangeFilters.length; at++) {
    const { min, max } = rangeFilters[at]!;
    if (values[at]! < min[offer]! || values[at]! > max[offer]!) return false;
  }
  return true;
}
