import { bounds } from '../bounds.ts';
import { completedYears } from '../domain/calendar.ts';
import { absentValue, type FieldVector } from '../verticals/field-vector.ts';
import {
  type Applicant,
  emptyApplicant,
  emptyOfferPrice,
  priceOffer,
  readApplicant,
} from '../verticals/personal-loans/price-offer.ts';
import type { MatchIndex, StateIndex } from './match-index.ts';
import type { MatchTables } from './match-tables.ts';
import type { Ranking, UnavailableOffers } from './matcher.ts';
import {
  countOffers,
  hasOffer,
  intersectOffers,
  lowestBitIndex,
  type OfferSet,
  removeOffer,
  subtractOffers,
} from './offer-set.ts';

/**
 * Whether a borrower may sign a contract in the state they live in, as far as they have told: a birthdate that was not told
 * keeps nobody out (docs/contributing/decisions/counting-rules.md). `today` is a compact date.
 */
export function meetsAgeOfContract(tables: MatchTables, borrower: Readonly<FieldVector>, today: number): boolean {
  const state = borrower[tables.roles.state]!;
  const born = tables.roles.birthdate < 0 ? absentValue : borrower[tables.roles.birthdate]!;
  if (state === absentValue || born === absentValue) return true;
  return completedYears(born, today) >= tables.stateAgeMin[state]!;
}

const raisedMinimumPrice = emptyOfferPrice();

/**
 * Leaves in `eligible` the offers that every rule allows this borrower but those on debts, and answers how many. `applicant`
 * is the borrower's.
 */
export function selectEligible(
  tables: MatchTables,
  index: MatchIndex,
  borrower: Readonly<FieldVector>,
  applicant: Applicant,
  today: number,
  eligible: OfferSet,
): number {
  const { roles, choiceFilters, rangeFilters, ageFilters } = tables;
  const ofState = index.indexForState(borrower[roles.state]!, applicant);
  eligible.set(ofState.offered);
  for (let at = 0; at < choiceFilters.length; at++) {
    const { field, allowed } = choiceFilters[at]!;
    // Where an offer is open depends on state and credit band already.
    if (field !== roles.state && field !== roles.creditBand) intersectOffers(eligible, allowed.get(borrower[field]!)!);
  }
  for (let at = 0; at < rangeFilters.length; at++) {
    index.ranges[at]!.filter(eligible, borrower[rangeFilters[at]!.field]!);
  }
  for (let at = 0; at < ageFilters.length; at++) {
    const born = borrower[ageFilters[at]!.field]!;
    index.ageRanges[at]!.filter(eligible, born === absentValue ? absentValue : completedYears(born, today));
  }
  index.indexForBand(applicant.creditBand).amounts.filter(eligible, applicant.amount);
  excludeRaisedMinimums(tables, ofState, applicant, eligible);
  return countOffers(eligible);
}

/** Strikes out the offers that start at a higher amount in this state than elsewhere, and than was asked for. */
function excludeRaisedMinimums(
  tables: MatchTables,
  { raisedMinimum, lowestRaisedMinimum, highestRaisedMinimum }: StateIndex,
  applicant: Applicant,
  eligible: OfferSet,
): void {
  if (applicant.amount >= highestRaisedMinimum) return;
  if (applicant.amount < lowestRaisedMinimum) {
    subtractOffers(eligible, raisedMinimum);
    return;
  }
  for (let word = 0; word < eligible.length; word++) {
    for (let bits = eligible[word]! & raisedMinimum[word]!; bits !== 0; bits &= bits - 1) {
      const offer = (word << 5) + lowestBitIndex(bits);
      if (!priceOffer(tables, offer, applicant, raisedMinimumPrice)) removeOffer(eligible, offer);
    }
  }
}

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
