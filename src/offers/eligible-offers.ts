import { completedYears } from '../domain/calendar.ts';
import { absent, type PocketVector } from '../verticals/pocket-vector.ts';
import type { MatchIndex, StateIndex } from './match-index.ts';
import type { MatchTables } from './match-tables.ts';
import { countOf, keepOnly, leaveOut, lowestBit, type OfferBits, removeOffer } from './offer-bits.ts';
import { type Applicant, newOfferPrice, priceOffer } from './price-offer.ts';

const price = newOfferPrice();

/**
 * Leaves in `eligible` the offers that every rule allows this borrower but those on debts, and answers how many. `applicant`
 * is the borrower's.
 */
export function chooseEligible(
  tables: MatchTables,
  index: MatchIndex,
  borrower: Readonly<PocketVector>,
  applicant: Applicant,
  today: number,
  eligible: OfferBits,
): number {
  const { roles, choiceFilters, rangeFilters, ageFilters } = tables;
  const ofState = index.state(borrower[roles.state]!, applicant);
  eligible.set(ofState.open);
  for (let at = 0; at < choiceFilters.length; at++) {
    const { field, allowed } = choiceFilters[at]!;
    // Where an offer is open depends on state and credit band already.
    if (field !== roles.state && field !== roles.creditBand) keepOnly(eligible, allowed.get(borrower[field]!)!);
  }
  for (let at = 0; at < rangeFilters.length; at++) {
    index.ranges[at]!.narrow(eligible, borrower[rangeFilters[at]!.field]!);
  }
  for (let at = 0; at < ageFilters.length; at++) {
    const born = borrower[ageFilters[at]!.field]!;
    index.ages[at]!.narrow(eligible, born === absent ? absent : completedYears(born, today));
  }
  index.band(applicant.creditBand).amounts.narrow(eligible, applicant.amount);
  leaveOutRaised(tables, ofState, applicant, eligible);
  return countOf(eligible);
}

/** Strikes out the offers that start at a higher amount in this state than elsewhere, and than was asked for. */
function leaveOutRaised(
  tables: MatchTables,
  { raised, raisedToLowest, raisedToHighest }: StateIndex,
  applicant: Applicant,
  eligible: OfferBits,
): void {
  if (applicant.amount >= raisedToHighest) return;
  if (applicant.amount < raisedToLowest) {
    leaveOut(eligible, raised);
    return;
  }
  for (let word = 0; word < eligible.length; word++) {
    for (let bits = eligible[word]! & raised[word]!; bits !== 0; bits &= bits - 1) {
      const offer = (word << 5) + lowestBit(bits);
      if (!priceOffer(tables, offer, applicant, price)) removeOffer(eligible, offer);
    }
  }
}
