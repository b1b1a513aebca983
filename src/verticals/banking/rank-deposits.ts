import { createPricingRanker, type OfferPricer } from '../../matching/pricing-ranker.ts';
import type { DepositTables } from './deposit-tables.ts';
import { createEmptyDepositOfferFigures, type Depositor, priceDeposit, readDepositor } from './price-deposit.ts';
import { computeRecommendationScore } from './recommendation-score.ts';

const price = createEmptyDepositOfferFigures();

/**
 * Sort keys of deposit offers (docs/verticals/banking.md#orders). The offer with the lowest key comes first, so all keys are negative
 * numbers. Yields and amounts are compared as they are shown, after rounding.
 */
export const depositPricer: OfferPricer<DepositTables, Depositor> = {
  readApplicant: readDepositor,
  computeSortKeys(tables, offer, applicant, keys) {
    if (!priceDeposit(tables, offer, applicant, price)) return false;
    const { apy, feeCents, earningsCents } = price;
    const fixedScore = (feeCents > 0 ? tables.scoreWithFee : tables.scoreWithoutFee)[offer]!;
    keys.recommended = -computeRecommendationScore(applicant.deposit, earningsCents, fixedScore);
    keys.lowestApr = -apy;
    keys.highestAmount = -earningsCents;
    keys.revenue = -tables.expectedRevenueMicros[offer]!;
    return true;
  },
};

/** Ranks the deposit offers that a depositor can get. */
export const rankDeposits = createPricingRanker(depositPricer);
