import { completedYearsBetween } from '../domain/calendar.ts';
import { absentValue, type FieldVector } from '../domain/field-vector.ts';
import type { MatchTables } from './match-tables.ts';
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
  let available = total;
  for (let word = 0; word < unavailable.length; word++) {
    let bits = unavailable[word]!;
    for (let at = 0; bits !== 0 && at < allowedSets.length; at++) bits &= allowedSets[at]![word]!;
    for (; bits !== 0; bits &= bits - 1) {
      const offer = (word << 5) + lowestBitIndex(bits);
      if (isWithinRanges(tables, offer, borrower, today) && hasPrice(offer)) available--;
    }
  }
  return available;
}

function isWithinRanges(tables: MatchTables, offer: number, borrower: Readonly<FieldVector>, today: number): boolean {
  for (const { field, min, max } of tables.rangeFilters) {
    const value = borrower[field]!;
    if (value < min[offer]! || value > max[offer]!) return false;
  }
  for (const { field, minYears } of tables.ageFilters) {
    const born = borrower[field]!;
    const years = minYears[offer]!;
    if (years > 0 && (born === absentValue || completedYearsBetween(born, today) < years)) return false;
  }
  return true;
}
