import { roundHalfUp } from '../../domain/money.ts';
import { createPricingRanker, type OfferPricer, type OfferSortKeys } from '../../matching/pricing-ranker.ts';
import type { FieldVector } from '../field-vector.ts';
import type { MortgageTables } from './mortgage-tables.ts';
import { costOverFiveYearsCents, emptyLoanPrice, leastAprPercent, loanAprPercent, priceLoan } from './price-loan.ts';
import { type Applicant, emptyApplicant, emptyLoanQuote, largestLoan, quoteLoan, readApplicant } from './quote-loan.ts';

/**
 * Weights of the parts of the `recommended` score, in percent (docs/verticals/mortgage.md#sort-orders). The payout must not influence the
 * score.
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

/** Computes the `recommended` score in millionths. Offers with higher scores come first. */
export type MortgageScorer = (tables: MortgageTables, offer: number, applicant: Applicant, costCents: number) => number;

/** Each part is rounded to whole millionths, so rounding errors of sums cannot change the order. */
export const computeRecommendationScore: MortgageScorer = (tables, offer, { amount, creditBand }, costCents) => {
  const { cost, approval, stars } = recommendationWeights;
  const costShare = costCents / (100 * amount * costShareMax);
  const likelihood = tables.approvalLikelihood[offer * tables.bandCount + creditBand]!;
  const sum =
    cost * Math.round(1_000_000 * Math.max(0, 1 - costShare)) +
    approval * Math.round(1_000_000 * likelihood) +
    stars * Math.round((1_000_000 * (tables.stars[offer]! - 1)) / 4);
  return Math.round(sum / 100);
};

/** Largest cost in whole USD in a sort key of `highest_amount`; higher costs count as this cost. */
const costUsdMax = 2 ** 27 - 1;

/** Rounding errors of the APR and its lower bound, in hundredths of a percent, are smaller than this. */
const aprTolerance = 1e-6;

/** Creates the pricer of mortgage rankings. `score` computes the `recommended` score. */
export function createMortgagePricer(score: MortgageScorer): OfferPricer<MortgageTables, Applicant> {
  const applicant = emptyApplicant();
  const quote = emptyLoanQuote();
  const price = emptyLoanPrice();
  return {
    readApplicant: (tables, borrower: Readonly<FieldVector>) =>
      readApplicant(tables, borrower, applicant) ? applicant : null,

    computeSortKeys(tables, offer, borrower, keys: OfferSortKeys) {
      if (!quoteLoan(tables, offer, borrower, quote)) return false;
      priceLoan(tables, offer, borrower, quote, price);
      const costCents = costOverFiveYearsCents(tables, offer, borrower, quote, price);
      const recommended = -score(tables, offer, borrower, costCents);
      keys.recommended = recommended;
      // No list is ordered by payout (docs/verticals/mortgage.md#law).
      keys.revenue = recommended;
      const costUsd = Math.min(costUsdMax, Math.round(costCents / 100));
      keys.highestAmount = costUsd - largestLoan(tables, offer, borrower, quote) * 2 ** 27;
      keys.lowestApr = toAprKey(leastAprPercent(tables, offer, borrower, quote, price) - aprTolerance / 100);
      return true;
    },

    computeAprKey(tables, offer, borrower) {
      quoteLoan(tables, offer, borrower, quote);
      priceLoan(tables, offer, borrower, quote, price);
      return toAprKey(loanAprPercent(tables, offer, borrower, quote, price));
    },
  };
}

/** Converts an APR in percent to hundredths of a percent, rounded half up, as offers show it. */
export function toAprKey(percent: number): number {
  return roundHalfUp(percent * 100, 0);
}

export const rankMortgages = createPricingRanker(createMortgagePricer(computeRecommendationScore));
