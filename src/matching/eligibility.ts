import { bounds } from '../bounds.ts';
import { completedYearsBetween } from '../domain/calendar.ts';
import { absentValue, type FieldVector } from '../verticals/field-vector.ts';
import { getVerticalProduct } from '../verticals/registry.ts';
import { type MatchTables, meetsStateMinimumAge } from './match-tables.ts';
import type { Ranking, UnavailableOffers } from './matcher.ts';
import { hasOffer, lowestBitIndex } from './offer-set.ts';

/**
 * Recomputes the `total` of a ranking after offers became available or unavailable, by checking only those offers. `borrower` and `today`
 * must be the values with which the ranking was computed. Returns null if a new ranking is necessary: more than `bounds.offersRecountedMax`
 * offers changed, or `availableOnly` is true and the sort orders lack an offer that became available.
 */
export function recountAvailableOffers(
  tables: MatchTables,
  { total, availableOnly }: Ranking,
  borrower: Readonly<FieldVector>,
  today: number,
  before: UnavailableOffers,
  now: UnavailableOffers,
): number | null {
  const hasPrice = getVerticalProduct(tables).createAvailabilityCheck(tables, borrower);
  if (hasPrice === null || !meetsStateMinimumAge(tables, borrower, today)) return total;
  let available = total;
  let changes = 0;
  for (let word = 0; word << 5 < tables.offerCount; word++) {
    const unavailable = now.bits === null ? 0 : now.bits[word]!;
    const changed = unavailable ^ (before.bits === null ? 0 : before.bits[word]!);
    for (let bits = changed; bits !== 0; bits &= bits - 1) {
      if (++changes > bounds.offersRecountedMax) return null;
      const bit = lowestBitIndex(bits);
      const offer = (word << 5) + bit;
      if (!passesFilters(tables, offer, borrower, today) || !hasPrice(offer)) continue;
      if ((unavailable & (1 << bit)) !== 0) available--;
      else if (availableOnly) return null;
      else available++;
    }
  }
  return available;
}

function passesFilters(tables: MatchTables, offer: number, borrower: Readonly<FieldVector>, today: number): boolean {
  for (const { field, allowed } of tables.choiceFilters) {
    if (!hasOffer(allowed.get(borrower[field]!)!, offer)) return false;
  }
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
