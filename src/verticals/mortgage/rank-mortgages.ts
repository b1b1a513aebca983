import { roundHalfUp } from '../../domain/money.ts';
import { createPricingRanker, type OfferPricer, type OfferSortKeys } from '../../matching/pricing-ranker.ts';
import type { FieldVector } from '../field-vector.ts';
import type { MortgageTables } from './mortgage-tables.ts';
import { costOverFiveYearsCents, emptyLoanPrice, leastAprPercent, loanAprPercent, priceLoan } from './price-loan.ts';
import { type Applicant, emptyApplicant, emptyLoanQuote, largestLoan, quoteLoan, readApplicant } from './quote-loan.ts';
import { computeRecommendationScore } from './recommendation-score.ts';

/** Largest cost in whole USD in a sort key of `highest_amount`; higher costs count as this cost. */
const costUsdMax = 2 ** 27 - 1;

/** Rounding errors of the APR and its lower bound, in hundredths of a percent, are smaller than this. */
const aprTolerance = 1e-6;

function createMortgagePricer(): OfferPricer<MortgageTables, Applicant> {
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
      const fixedScore = tables.fixedScore[offer * tables.bandCount + borrower.creditBand]!;
      const recommended = -computeRecommendationScore(fixedScore, borrower.amount, costCents);
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

/** Pricer of mortgage rankings. */
export const mortgagePricer = createMortgagePricer();

export const rankMortgages = createPricingRanker(mortgagePricer);
