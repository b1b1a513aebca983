import type { FieldVector } from '../../domain/field-vector.ts';
import { lowestBitIndex, type OfferSet, removeOffer, subtractOffers } from '../../matching/offer-set.ts';
import type { LoanTables } from './loan-tables.ts';
import type { MatchIndex, OffersByUsState } from './match-index.ts';
import { type Applicant, calculatePrice, createEmptyLoanPrice } from './price-offer.ts';

const raisedMinimumPrice = createEmptyLoanPrice();

/**
 * Replaces the content of `eligible` with the offers that pass all rules except the debt-to-income limit.
 * `applicant` must have the values that `readApplicant` read from `borrower`.
 */
export function selectEligibleOffers(
  tables: LoanTables,
  index: MatchIndex,
  borrower: Readonly<FieldVector>,
  applicant: Applicant,
  today: number,
  eligible: OfferSet,
): void {
  const { roles } = tables;
  const stateIndex = index.getOffersByUsState(borrower[roles.state]!, applicant);
  eligible.set(stateIndex.offered);
  // The filters on US state and credit band are already applied in `stateIndex.offered`.
  index.criteria.filterOffers(eligible, borrower, today, roles.state, roles.creditBand);
  index.getOffersByCreditBand(applicant.creditBand).amounts.filterOffers(eligible, applicant.amount);
  excludeBelowStateMinimum(tables, stateIndex, applicant, eligible);
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
