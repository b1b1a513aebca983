import { bounds } from '../../bounds.ts';
import { absentValue } from '../../domain/field-vector.ts';
import { ratioInMillionths } from '../common/ratio-in-millionths.ts';
import type { LoanTables } from './loan-tables.ts';
import type { Applicant, LoanPrice } from './price-offer.ts';

/** Computes the score of a priced offer for an applicant. Offers with higher scores are ranked first. */
export type OfferScorer = (tables: LoanTables, offer: number, applicant: Applicant, price: LoanPrice) => number;

/**
 * Weights of the parts of the `recommended` score, in percent (docs/contract.md#sort-orders). The payout must not influence the
 * `recommended` score.
 */
export const recommendationWeights = {
  /** Weight of the cost score. The cost score is 1 if the middle of the APR range is 0 %, and 0 if the middle is `aprPercentMax`. */
  cost: 45,
  approval: 30,
  /**
   * Weight of the amount score. The amount score is 1 if the requested amount is at most 80 % of the largest amount that the borrower can
   * get, and 0 if the two amounts are equal.
   */
  amountFit: 8,
  /**
   * Weight of the loan term score. The loan term score is the ratio of the requested and the quoted term: the shorter term divided by
   * the longer term. If no term is requested, the loan term score is 1.
   */
  termFit: 7,
  /** Weight of the star score. The star score is 1 for an offer with five stars and 0 for an offer with one star. */
  stars: 10,
} as const;

/**
 * Computes the `recommended` score in millionths. The score of each criterion, such as cost, is a ratio rounded to whole millionths. The
 * weighted sum uses only integers, so rounding errors of floating-point sums cannot change the order.
 */
export const computeRecommendationScore: OfferScorer = (tables, offer, applicant, price) => {
  const row = offer * tables.bandCount + applicant.creditBand;
  const aprMiddleTimes200 = tables.aprMin[price.slot]! + tables.aprMax[price.slot]!;
  const { cost, approval, amountFit, termFit, stars } = recommendationWeights;
  const sum =
    cost * ratioInMillionths(200 * bounds.aprPercentMax - aprMiddleTimes200, 200 * bounds.aprPercentMax) +
    approval * ratioInMillionths(tables.approvalLikelihood[row]!, 1) +
    amountFit * Math.min(1_000_000, ratioInMillionths(5 * (price.amountMax - applicant.amount), price.amountMax)) +
    termFit * termFitMillionths(applicant.termMonths, tables.termMonths[price.termIndex]!) +
    stars * ratioInMillionths(tables.stars[offer]! - 1, 4);
  return Math.round(sum / 100);
};

function termFitMillionths(requestedMonths: number, quotedMonths: number): number {
  if (requestedMonths === absentValue) return 1_000_000;
  return ratioInMillionths(Math.min(requestedMonths, quotedMonths), Math.max(requestedMonths, quotedMonths));
}

/**
 * The offer with the lowest sort key comes first (docs/contract.md#sort-orders). Offers with equal sort keys are sorted by offer number.
 */

/** Sort key of `lowest_apr`: orders by the lower end of the displayed APR range, then by the upper end. The key is below 2^24. */
export function aprSortKey(tables: LoanTables, slot: number): number {
  return tables.aprMin[slot]! * 4_096 + tables.aprMax[slot]!;
}

/** Sort key of `highest_amount`: orders by the largest amount that the borrower can get (descending), then by `aprSortKey`. */
export function amountSortKey(tables: LoanTables, slot: number, amountMax: number): number {
  return aprSortKey(tables, slot) - amountMax * 2 ** 24;
}

/** Inverse of `amountSortKey`: returns the `amountMax` of a sort key, or `-Infinity` for the sort key `Infinity`. */
export function amountFromSortKey(key: number): number {
  return Math.ceil(-key / 2 ** 24);
}

/** Sort key of `svc_revenue`: orders by the expected revenue of a click, descending. */
export function revenueSortKey(tables: LoanTables, row: number): number {
  return -tables.expectedRevenueMicros[row]!;
}
