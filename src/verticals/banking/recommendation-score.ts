/**
 * Weights of the parts of the `recommended` score, in percent (docs/verticals/banking.md#score-for-the-order-recommended). The payout must
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

/** Smaller deposits, in USD, count as this amount, so that a bonus on a deposit of a few dollars does not hide all other parts. */
const depositUsdMin = 1_000;
/** Monthly fee for which the value of the fee is 0. */
const feeCentsMax = 2_500;

/**
 * Computes the `recommended` score in millionths. The weighted sum uses only integers, so rounding errors cannot change the order.
 *
 * @param depositUsd requested deposit in whole USD
 * @param earningsCents interest plus bonus minus fees in the first year; may be negative
 * @param feeCents monthly fee at this deposit
 * @param starScore result of `computeStarScore`
 */
export function computeRecommendationScore(
  depositUsd: number,
  earningsCents: number,
  feeCents: number,
  starScore: number,
): number {
  const earnings = Math.max(0, earningsCents);
  // 5 % of a deposit in USD, converted to cents, is five times the deposit.
  const reference = 5 * Math.max(depositUsd, depositUsdMin);
  const sum =
    weights.earnings * ratioMillionths(earnings, earnings + reference) +
    weights.fees * ratioMillionths(Math.max(0, feeCentsMax - feeCents), feeCentsMax) +
    starScore;
  return Math.round(sum / 100);
}

/** Returns the weighted value of a star rating, in hundredths of millionths. */
export function computeStarScore(stars: number): number {
  return weights.stars * ratioMillionths(stars - 1, 4);
}

function ratioMillionths(part: number, whole: number): number {
  return Math.round((1_000_000 * part) / whole);
}
