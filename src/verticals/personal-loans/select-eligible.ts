import { completedYearsBetween } from '../../domain/calendar.ts';
import {
  countOffers,
  intersectOffers,
  lowestBitIndex,
  type OfferSet,
  removeOffer,
  subtractOffers,
} from '../../matching/offer-set.ts';
import { absentValue, type FieldVector } from '../field-vector.ts';
import type { LoanTables } from './loan-tables.ts';
import type { MatchIndex, OffersByUsState } from './match-index.ts';
import { type Applicant, calculatePrice, createEmptyLoanPrice } from './price-offer.ts';

const raisedMinimumPrice = createEmptyLoanPrice();

/**
 * Replaces the content of `eligible` with the offers that pass all rules except the debt-to-income limit, and returns their number.
 * `applicant` must have the values that `readApplicant` read from `borrower`.
 */
export function selectEligibleOffers(
  tables: LoanTables,
  index: MatchIndex,
  borrower: Readonly<FieldVector>,
  applicant: Applicant,
  today: number,
  eligible: OfferSet,
): number {
  const { roles, choiceFilters, rangeFilters, ageFilters } = tables;
  const stateIndex = index.getOffersByUsState(borrower[roles.state]!, applicant);
  eligible.set(stateIndex.offered);
  for (let at = 0; at < choiceFilters.length; at++) {
    const { field, allowed } = choiceFilters[at]!;
    // The filters on US state and credit band are already applied in `stateIndex.offered`.
    if (field !== roles.state && field !== roles.creditBand) intersectOffers(eligible, allowed.get(borrower[field]!)!);
  }
  for (let at = 0; at < rangeFilters.length; at++) {
    index.ranges[at]!.filterOffers(eligible, borrower[rangeFilters[at]!.field]!);
  }
  for (let at = 0; at < ageFilters.length; at++) {
    const born = borrower[ageFilters[at]!.field]!;
    index.ageRanges[at]!.filterOffers(
      eligible,
      born === absentValue ? absentValue : completedYearsBetween(born, today),
    );
  }
  index.getOffersByCreditBand(applicant.creditBand).amounts.filterOffers(eligible, applicant.amount);
  excludeBelowStateMinimum(tables, stateIndex, applicant, eligible);
  return countOffers(eligible);
}

/** Removes the offers for which a rule of the US state raises the minimum amount above the requested amount. */
function excludeBelowStateMinimum(
  tables: LoanTables,
  { raisedMinimum, lowestRaisedMinimum, highestRaisedMinimum }: OffersByUsState,
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
      if (!calculatePrice(tables, offer, applicant, raisedMinimumPrice)) removeOffer(eligible, offer);
    }
  }
}
