import { bounds } from '../bounds.ts';
import { completedYears } from '../domain/calendar.ts';
import { absent, type PocketVector } from '../verticals/pocket-vector.ts';
import { isOfContractAge } from './age-of-contract.ts';
import type { ClosedOffers } from './closed-offers.ts';
import type { MatchTables } from './match-tables.ts';
import type { Ranking } from './matcher.ts';
import { hasOffer, lowestBit } from './offer-bits.ts';
import { newApplicant, newOfferPrice, priceOffer, readApplicant } from './price-offer.ts';

const applicant = newApplicant();
const price = newOfferPrice();

/**
 * The `total` of a ranking after other offers closed or opened than those it was counted with: only these are judged. Null when the
 * ranking must be made again: more of them changed than `bounds.offersRecountedMax`, or one opened that its orders leave out.
 * `borrower` and `today` are those it was made for.
 */
export function countOpen(
  tables: MatchTables,
  { total, openOnly }: Ranking,
  borrower: Readonly<PocketVector>,
  today: number,
  before: ClosedOffers,
  now: ClosedOffers,
): number | null {
  if (!readApplicant(tables, borrower, applicant) || !isOfContractAge(tables, borrower, today)) return total;
  let open = total;
  let changes = 0;
  for (let word = 0; word << 5 < tables.offerCount; word++) {
    const closed = now.bits === null ? 0 : now.bits[word]!;
    const changed = closed ^ (before.bits === null ? 0 : before.bits[word]!);
    for (let bits = changed; bits !== 0; bits &= bits - 1) {
      if (++changes > bounds.offersRecountedMax) return null;
      const place = lowestBit(bits);
      if (!matches(tables, (word << 5) + place, borrower, today)) continue;
      if ((closed & (1 << place)) !== 0) open--;
      else if (openOnly) return null;
      else open++;
    }
  }
  return open;
}

/** Whether one offer is made to the borrower that `applicant` was read from: the rules of `chooseEligible`, for one offer. */
function matches(tables: MatchTables, offer: number, borrower: Readonly<PocketVector>, today: number): boolean {
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
    if (years > 0 && (born === absent || completedYears(born, today) < years)) return false;
  }
  return priceOffer(tables, offer, applicant, price);
}
