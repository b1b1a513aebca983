import { ratioInMillionths } from '../common/ratio-in-millionths.ts';

/**
 * Weights of the parts of the `recommended` score, in percent (docs/verticals/banking.md#recommended-score). The payout must
 * not influence the `recommended` score.
 */
const weights = {
  /**
   * Weight of the earnings in the first year over the deposit. The value is `earnings / (earnings + 5 % of the deposit)`: 0 without
   * earnings, 0.5 if the deposit earns 5 %, and always below 1, so that offers with large bonuses still differ.
   */
  earnings: 60,
  /** Weight of the monthly fee. The value is 1 without a fee, and 0 for a fee of `feeCentsMax` or more. */
  fees: 20,
  /** Weight of the star rating. The value is 1 for five stars and 0 for one star. */
  stars: 20,
} as const;

/**
 * Smallest deposit that the score uses, in USD. Smaller deposits count as this amount. Without this minimum, a bonus on a deposit of a few
 * dollars would outweigh all other parts.
 */
const depositUsdMin = 1_000;
/** Smallest monthly fee, in cents, that adds nothing to the score. */
const feeCentsMax = 2_500;

/**
 * Computes the `recommended` score, a whole number from 0 to 100,000,000: each part is rounded to millionths and multiplied by its weight in
 * percent. The sum uses only integers, so rounding errors cannot change the order.
 *
 * @param depositUsd requested deposit in whole USD
 * @param earningsCents interest plus bonus minus fees in the first year; may be negative
 * @param fixedScore result of `computeDepositIndependentScore`
 */
export function computeRecommendationScore(depositUsd: number, earningsCents: number, fixedScore: number): number {
  const earnings = Math.max(0, earningsCents);
  // 5 % of the deposit, in cents: 0.05 x 100 x `depositUsd`.
  const reference = 5 * Math.max(depositUsd, depositUsdMin);
  return weights.earnings * ratioInMillionths(earnings, earnings + reference) + fixedScore;
}

/** Returns the parts of the score that do not depend on the deposit: the weighted values of the monthly fee and of the star rating. */
export function computeDepositIndependentScore(feeCents: number, stars: number): number {
  return (
    weights.fees * ratioInMillionths(Math.max(0, feeCentsMax - feeCents), feeCentsMax) +
    weights.stars * ratioInMillionths(stars - 1, 4)
  );
}
