import { ratioInMillionths } from '../common/ratio-in-millionths.ts';

/**
 * Weights of the parts of the `recommended` score, in percent (docs/verticals/find-advisor.md#recommended-score). The payout must not
 * influence the `recommended` score.
 */
const weights = {
  /** Weight of the topic. The value is 1 for the first service of the advisor, and falls by an equal step for each later service. */
  topic: 30,
  /**
   * Weight of the fee as a share of the assets. The value is `assets / (assets + 100 x fee)`: 1 without a fee, 0.5 for a fee of 1 % of the
   * assets, and always above 0, so that advisors with high fees still differ.
   */
  fee: 40,
  /** Weight of the credentials. The value is 1 for `credentialsMax` or more, and 0 for none. */
  credentials: 10,
  /** Weight of the star rating. The value is 1 for five stars and 0 for one star. */
  stars: 20,
} as const;

/** Smallest assets that the score uses, in USD. Smaller assets, also 0, count as this amount. */
const assetsUsdMin = 50_000;
/** Number of credentials from which more credentials add nothing to the score. */
const credentialsMax = 2;

/**
 * Computes the `recommended` score, a whole number from 0 to 100,000,000: each part is rounded to millionths and multiplied by its weight in
 * percent. The sum uses only integers, so rounding errors cannot change the order.
 *
 * @param assetsUsd assets of the visitor in whole USD
 * @param otherScore sum of the results of `computeTopicScore` and `computeVisitorIndependentScore`
 */
export function computeRecommendationScore(assetsUsd: number, feeCents: number, otherScore: number): number {
  const assets = Math.max(assetsUsd, assetsUsdMin);
  // 100 times the fee in USD is the fee in cents.
  return weights.fee * ratioInMillionths(assets, assets + feeCents) + otherScore;
}

/**
 * Returns the weighted value of a topic.
 *
 * @param place place of the topic among the services of the advisor, from 0; -1 if the advisor does not offer it
 */
export function computeTopicScore(place: number, topicCount: number): number {
  return place < 0 ? 0 : weights.topic * ratioInMillionths(topicCount - place, topicCount);
}

/** Returns the parts of the score that are the same for all visitors: the weighted values of the credentials and of the star rating. */
export function computeVisitorIndependentScore(credentialCount: number, stars: number): number {
  return (
    weights.credentials * ratioInMillionths(Math.min(credentialCount, credentialsMax), credentialsMax) +
    weights.stars * ratioInMillionths(stars - 1, 4)
  );
}
