import { createPricingRanker, type OfferPricer } from '../../matching/pricing-ranker.ts';
import {
  bandFigureIndexes,
  type CardTables,
  computeBandRecordIndex,
  offerFigureIndexes,
  offerRecordLength,
} from './card-tables.ts';
import { type CardApplicant, computeFirstYearCents, isWithinDeposit, readApplicant } from './price-card.ts';

const { starsMillionths } = offerFigureIndexes;
const { aprSortKey, approvalMillionths } = bandFigureIndexes;

/**
 * Weights of the parts of the `recommended` score, in percent (docs/verticals/credit-cards.md#recommended-score). The payout must not influence
 * the score.
 */
export const recommendationWeights = {
  /** Weight of the value score. The value score is 0.5 for a first-year value of 0 USD, and nears 1 for large gains and 0 for large costs. */
  value: 50,
  approval: 35,
  /** Weight of the star score. The star score is 1 for an offer with five stars and 0 for an offer with one star. */
  stars: 15,
} as const;

/**
 * Returns the amount, in cents, that counts as a large first-year value for an applicant: 200 USD, plus 1 % of a year's purchases, plus 10 % of
 * the balances. The value score is 0.75 if the first-year value equals this amount.
 */
function computeValueScaleCents({ monthlySpend, transferAmount, carriedBalance }: CardApplicant): number {
  return 20_000 + 12 * monthlySpend + 10 * (transferAmount + carriedBalance);
}

/** Computes the `recommended` score in millionths, from integers, so that rounding errors of sums cannot change the order. */
export function computeCardRecommendationScore(
  tables: CardTables,
  offer: number,
  applicant: CardApplicant,
  firstYearCents: number,
): number {
  const { value, approval, stars } = recommendationWeights;
  const size = Math.abs(firstYearCents) + computeValueScaleCents(applicant);
  const valueMillionths = Math.round((500_000 * (size + firstYearCents)) / size);
  const bandRecord = computeBandRecordIndex(tables, offer, applicant.creditBand);
  const sum =
    value * valueMillionths +
    approval * tables.bandFigures[bandRecord + approvalMillionths]! +
    stars * tables.offerFigures[offer * offerRecordLength + starsMillionths]!;
  return Math.round(sum / 100);
}

/** Sort keys of cards. In each order, the card with the lowest key comes first; cards with equal keys are sorted by offer number. */
export const cardPricer: OfferPricer<CardTables, CardApplicant> = {
  readApplicant,
  computeSortKeys(tables, offer, applicant, keys) {
    // The filters of the tables have checked the purpose, the credit band and the annual fee.
    if (!isWithinDeposit(tables, offer, applicant)) return false;
    const bandRecord = computeBandRecordIndex(tables, offer, applicant.creditBand);
    const firstYearCents = computeFirstYearCents(tables, offer, applicant);
    keys.recommended = -computeCardRecommendationScore(tables, offer, applicant, firstYearCents);
    keys.lowestApr = tables.bandFigures[bandRecord + aprSortKey]!;
    keys.highestAmount = -firstYearCents;
    keys.revenue = -tables.expectedRevenueMicros[offer]!;
    return true;
  },
};

/** Ranks the offers of a card catalog. */
export const rankCards = createPricingRanker(cardPricer);
