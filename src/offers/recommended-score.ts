import { bounds } from '../bounds.ts';
import { absent } from '../verticals/pocket-vector.ts';
import type { MatchTables } from './match-tables.ts';
import type { Applicant, OfferPrice } from './price-offer.ts';

/** Weighs one priced offer for one applicant; more is better. */
export type Score = (tables: MatchTables, offer: number, applicant: Applicant, price: OfferPrice) => number;

/**
 * How much each part of the borrower's own value counts in `recommended` (D8). The parts run from 0 to 1, the weights sum
 * to 1. What an offer pays us is not among them and never will be.
 */
export const recommendedWeights = {
  /** The middle of the borrower's APR range: 1 at 0 %, 0 at the highest rate ever shown. */
  cost: 0.45,
  /** The lender's approval likelihood in the borrower's credit band. */
  approval: 0.3,
  /** Room above the amount asked for: 1 when it is at most 80 % of what the borrower can get, 0 when it is all of it. */
  amountFit: 0.08,
  /** 1 for the term asked for, or when none was; less by the share the quoted term is off. */
  termFit: 0.07,
  /** 1 at five stars, 0 at one. */
  stars: 0.1,
} as const;

/**
 * The score of `recommended`, in whole millionths: what differs by less is a tie, so that the order never hangs on the last
 * bit of a floating-point sum.
 */
export const recommendedScore: Score = (tables, offer, applicant, price) => {
  const row = offer * tables.bandCount + applicant.creditBand;
  const aprMiddle = (tables.aprMin[price.slot]! + tables.aprMax[price.slot]!) / 200;
  const room = (price.amountMax - applicant.amount) / price.amountMax;
  return Math.round(
    1_000_000 *
      (recommendedWeights.cost * (1 - aprMiddle / bounds.aprPercentMax) +
        recommendedWeights.approval * tables.approvalLikelihood[row]! +
        recommendedWeights.amountFit * Math.min(1, room / 0.2) +
        recommendedWeights.termFit * termFit(applicant.termMonths, tables.termMonths[price.term]!) +
        recommendedWeights.stars * ((tables.stars[offer]! - 1) / 4)),
  );
};

function termFit(wantedMonths: number, quotedMonths: number): number {
  if (wantedMonths === absent) return 1;
  return 1 - Math.abs(wantedMonths - quotedMonths) / Math.max(wantedMonths, quotedMonths);
}
