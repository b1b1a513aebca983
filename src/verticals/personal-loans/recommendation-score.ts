import { bounds } from '../../bounds.ts';
import { ratioInMillionths } from '../common/ratio-in-millionths.ts';

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

const millionthsMax = 1_000_000;
/** Middle of an APR range for which the cost score is 0, as the sum of both ends in hundredths of a percent. */
const aprSumMax = 200 * bounds.aprPercentMax;

/**
 * Returns the part of the `recommended` score that depends only on an offer, a credit band and a term: a whole number of hundredths of a
 * millionth.
 *
 * @param aprSum sum of both ends of the displayed APR range, in hundredths of a percent
 */
export function computeFixedScore(aprSum: number, approvalLikelihood: number, starRating: number): number {
  const { cost, approval, stars } = recommendationWeights;
  return (
    cost * ratioInMillionths(aprSumMax - aprSum, aprSumMax) +
    approval * ratioInMillionths(approvalLikelihood, 1) +
    stars * ratioInMillionths(starRating - 1, 4)
  );
}

/** Returns the weighted loan term score of a quoted term. `requestedMonths` is null if no term is requested. */
export function computeTermFit(requestedMonths: number | null, quotedMonths: number): number {
  if (requestedMonths === null) return recommendationWeights.termFit * millionthsMax;
  const [shorter, longer] = [Math.min(requestedMonths, quotedMonths), Math.max(requestedMonths, quotedMonths)];
  return recommendationWeights.termFit * ratioInMillionths(shorter, longer);
}

/**
 * Computes the `recommended` score in millionths. The score of each criterion, such as cost, is a ratio rounded to whole millionths. The
 * weighted sum uses only integers, so rounding errors of floating-point sums cannot change the order.
 *
 * @param fixedScore result of `computeFixedScore`
 * @param termFit result of `computeTermFit`
 * @param amount requested amount in USD
 * @param amountMax largest amount that the borrower can get, in USD
 */
export function computeRecommendationScore(
  fixedScore: number,
  termFit: number,
  amount: number,
  amountMax: number,
): number {
  const amountFit = Math.min(millionthsMax, ratioInMillionths(5 * (amountMax - amount), amountMax));
  return Math.round((fixedScore + termFit + recommendationWeights.amountFit * amountFit) / 100);
}
