/**
 * Weights of the parts of the `recommended` score, in percent (docs/verticals/mortgage.md#sort-orders). The payout must not influence the
 * score. Each part is rounded to whole millionths, so rounding errors of sums cannot change the order.
 */
export const recommendationWeights = {
  /** The cost part is 1 if the loan costs nothing over five years, and 0 if it costs `costShareMax` of the amount or more. */
  cost: 60,
  approval: 25,
  /** The star part is 1 for an offer with five stars and 0 for an offer with one star. */
  stars: 15,
} as const;

/** Cost over five years, as a share of the amount, from which the cost part of the score is 0. */
const costShareMax = 0.6;

/** Computes the part of the score that does not depend on the loan, in hundredths of a millionth. */
export function computeLoanIndependentScore(approvalLikelihood: number, stars: number): number {
  return (
    recommendationWeights.approval * Math.round(1_000_000 * approvalLikelihood) +
    recommendationWeights.stars * Math.round((1_000_000 * (stars - 1)) / 4)
  );
}

/**
 * Computes the `recommended` score in millionths. Offers with higher scores come first.
 *
 * @param fixedScore result of `computeLoanIndependentScore`
 * @param amount loan in USD
 */
export function computeRecommendationScore(fixedScore: number, amount: number, costCents: number): number {
  const costPart = Math.max(0, 1 - costCents / (100 * costShareMax * amount));
  return Math.round((recommendationWeights.cost * Math.round(1_000_000 * costPart) + fixedScore) / 100);
}
