import { absentValue, type FieldVector } from '../../domain/field-vector.ts';
import { createPricingRanker, type OfferPricer } from '../../matching/pricing-ranker.ts';
import type { MismatchCallback } from '../../matching/product-ranking.ts';
import type { AdvisorTables } from './advisor-tables.ts';
import { computeRecommendationScore } from './recommendation-score.ts';

/** Submitted values that determine fees and rankings. */
interface Visitor {
  /** Assets in whole USD. */
  readonly assets: number;
  /** Encoded value of `advice_topic`. */
  readonly topic: number;
}

/**
 * Sort keys of advisors (docs/verticals/find-advisor.md#orders). The offer with the lowest key comes first. Fees are compared as they are
 * shown, after rounding. The filters of the tables check topic, state and preference.
 */
export const advisorPricer: OfferPricer<AdvisorTables, Visitor> = {
  readApplicant({ fields }, borrower) {
    const assets = borrower[fields.investableAssets]!;
    const topic = borrower[fields.adviceTopic]!;
    return assets === absentValue || topic === absentValue ? null : { assets, topic };
  },
  computeSortKeys(tables, offer, { assets, topic }, keys) {
    const minimumAssets = tables.minimumAssets[offer]!;
    if (assets < minimumAssets) return false;
    const feeCents = computeAnnualFeeCents(tables, offer, assets);
    const otherScore = tables.topicScore[offer * tables.topicCount + topic]! + tables.fixedScore[offer]!;
    keys.recommended = -computeRecommendationScore(assets, feeCents, otherScore);
    keys.lowestApr = feeCents;
    keys.highestAmount = -minimumAssets;
    keys.revenue = -tables.payoutMicros[offer]!;
    return true;
  },
};

/** Ranks the advisors that a visitor can get. */
export const rankAdvisors = createPricingRanker(advisorPricer);

/** Returns the annual fee for these assets in cents, rounded half up. The percentage of each tier applies to the assets within the tier. */
export function computeAnnualFeeCents(tables: AdvisorTables, offer: number, assets: number): number {
  let tier = tables.firstTier[offer + 1]! - 1;
  while (assets < tables.tierFrom[tier]!) tier--;
  const fee = tables.tierBase[tier]! + (assets - tables.tierFrom[tier]!) * tables.tierRate[tier]!;
  return Math.floor((fee + 500) / 1_000);
}

/** Returns a function that reports why a visitor does not get an advisor, apart from the filters of the tables. */
export function createAdvisorMismatchFinder(
  tables: AdvisorTables,
  borrower: Readonly<FieldVector>,
): (offer: number, add: MismatchCallback) => void {
  const field = tables.fields.investableAssets;
  const assets = borrower[field]!;
  return (offer, add) => {
    if (assets === absentValue) add('not_told', field);
    else if (assets < tables.minimumAssets[offer]!) add('amount_too_low', field);
  };
}
