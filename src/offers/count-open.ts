import { bounds } from '../bounds.ts';
import { completedYears } from '../domain/calendar.ts';
import { absentValue, type FieldVector } from '../verticals/pocket-vector.ts';
import { meetsAgeOfContract } from './age-of-contract.ts';
import type { UnavailableOffers } from './closed-offers.ts';
import type { MatchTables } from './match-tables.ts';
import type { Ranking } from './matcher.ts';
import { hasOffer, lowestBitIndex } from './offer-bits.ts';
import { emptyApplicant, emptyOfferPrice, priceOffer, readApplicant } from './price-offer.ts';

const recountApplicant = emptyApplicant();
const recountPrice = emptyOfferPrice();

/**
 * The `total` of a ranking after other offers closed or opened than those it was counted with: only these are judged. Null when the
 * ranking must be made again: more of them changed than `bounds.offersRecountedMax`, or one opened that its orders leave out.
 * `borrower` and `today` are those it was made for.
 */
export function recountAvailable(
  tables: MatchTables,
  { total, availableOnly }: Ranking,
  borrower: Readonly<FieldVector>,
  today: number,
  before: UnavailableOffers,
  now: UnavailableOffers,
): number | null {
  if (!readApplicant(tables, borrower, recountApplicant) || !meetsAgeOfContract(tables, borrower, today)) return total;
  let open = total;
  let changes = 0;
  for (let word = 0; word << 5 < tables.offerCount; word++) {
    const closed = now.bits === null ? 0 : now.bits[word]!;
    const changed = closed ^ (before.bits === null ? 0 : before.bits[word]!);
    for (let bits = changed; bits !== 0; bits &= bits - 1) {
      if (++changes > bounds.offersRecountedMax) return null;
      const place = lowestBitIndex(bits);
      if (!isEligible(tables, (word << 5) + place, borrower, today)) continue;
      if ((closed & (1 << place)) !== 0) open--;
      else if (availableOnly) return null;
      else open++;
    }
  }
  return open;
}

/** Whether one offer is made to the borrower that `applicant` was read from: the rules of `selectEligible`, for one offer. */
function isEligible(tables: MatchTables, offer: number, borrower: Readonly<FieldVector>, today: number): boolean {
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
    if (years > 0 && (born === absentValue || completedYears(born, today) < years)) return false;
  }
  return priceOffer(tables, offer, recountApplicant, recountPrice);
}
