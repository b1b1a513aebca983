import { roundHalfUp } from '../../domain/money.ts';
import { createPricingRanker, type OfferPricer, type OfferSortKeys } from '../../matching/pricing-ranker.ts';
import type { FieldVector } from '../field-vector.ts';
import type { MortgageTables } from './mortgage-tables.ts';
import { costOverFiveYearsCents, emptyLoanPrice, leastAprPercent, loanAprPercent, priceLoan } from './price-loan.ts';
import { type Applicant, emptyApplicant, emptyLoanQuote, largestLoan, quoteLoan, readApplicant } from './quote-loan.ts';
import { computeRecommendationScore } from './recommendation-score.ts';

/** Weight of a dollar in a sort key of `highest_amount`, larger than any APR key (`bounds.ts`). */
const amountWeight = 2 ** 12;

/** Rounding errors of the APR and its lower bound, in percent, are smaller than this. */
const aprPercentTolerance = 1e-8;

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
      setAprKeys(
        keys,
        leastAprPercent(tables, offer, borrower, quote, price) - aprPercentTolerance,
        largestLoan(tables, offer, borrower, quote),
      );
      return true;
    },

    computeAprKeys(tables, offer, borrower, keys) {
      quoteLoan(tables, offer, borrower, quote);
      priceLoan(tables, offer, borrower, quote, price);
      setAprKeys(
        keys,
        loanAprPercent(tables, offer, borrower, quote, price),
        largestLoan(tables, offer, borrower, quote),
      );
    },
  };
}

/** Sets the keys of the orders by APR, and by largest loan in USD and then by APR. */
function setAprKeys(keys: OfferSortKeys, aprPercent: number, largestLoanUsd: number): void {
  keys.lowestApr = toAprKey(aprPercent);
  keys.highestAmount = keys.lowestApr - largestLoanUsd * amountWeight;
}

/** Converts an APR in percent to hundredths of a percent, rounded half up, as offers show it. */
export function toAprKey(percent: number): number {
  return roundHalfUp(percent * 100, 0);
}

/** Pricer of mortgage rankings. */
export const mortgagePricer = createMortgagePricer();

export const rankMortgages = createPricingRanker(mortgagePricer);
