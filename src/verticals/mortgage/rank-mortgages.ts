import { roundHalfUp } from '../../domain/money.ts';
import { rowOf } from '../../matching/match-tables.ts';
import { createPricingRanker, type OfferPricer, type OfferSortKeys } from '../../matching/pricing-ranker.ts';
import { type MortgageTables, scheduleFigureIndex } from './mortgage-tables.ts';
import {
  computeAprLowerBoundPercent,
  computeCostOverFiveYearsCents,
  computeLoanAprPercent,
  createEmptyMortgageLoanPrice,
  priceLoan,
} from './price-loan.ts';
import {
  type Applicant,
  computeLargestLoanUsd,
  createEmptyLoanQuote,
  type LoanQuote,
  quoteLoan,
  readApplicant,
} from './quote-loan.ts';
import { computeRecommendationScore } from './recommendation-score.ts';

/** Weight of a dollar in a sort key of `highest_amount`. The weight is larger than any APR key (`bounds.ts`). */
const amountWeight = 2 ** 12;

/**
 * Added to the sort key of `recommended` for an offer that is not quoted at the default term, if the borrower requested no term. The value is
 * larger than any score, so offers at the default term come first.
 */
const otherTermPenalty = 2 ** 20;

/** Upper bound of the rounding errors of the APR and of the APR's lower bound, in percent. */
const aprPercentTolerance = 1e-8;

function createMortgagePricer(): OfferPricer<MortgageTables, Applicant> {
  const quote = createEmptyLoanQuote();
  const price = createEmptyMortgageLoanPrice();
  return {
    readApplicant,

    computeSortKeys(tables, offer, borrower, keys: OfferSortKeys) {
      if (!quoteLoan(tables, offer, borrower, quote)) return false;
      priceLoan(tables, offer, borrower, quote, price);
      const costCents = computeCostOverFiveYearsCents(tables, offer, borrower, quote, price);
      const fixedScore = tables.fixedScore[rowOf(tables, offer, borrower.creditBand)]!;
      const score = computeRecommendationScore(fixedScore, borrower.amount, costCents);
      const isFirst = borrower.isTermRequested || isQuotedAtDefaultTerm(tables, quote);
      const recommended = isFirst ? -score : otherTermPenalty - score;
      keys.recommended = recommended;
      // No list is ordered by payout (docs/verticals/mortgage.md#law).
      keys.revenue = recommended;
      setAprKeys(
        keys,
        computeAprLowerBoundPercent(tables, offer, borrower, quote, price) - aprPercentTolerance,
        computeLargestLoanUsd(tables, offer, borrower, quote),
      );
      return true;
    },

    computeAprKeys(tables, offer, borrower, keys) {
      quoteLoan(tables, offer, borrower, quote);
      priceLoan(tables, offer, borrower, quote, price);
      setAprKeys(
        keys,
        computeLoanAprPercent(tables, offer, borrower, quote, price),
        computeLargestLoanUsd(tables, offer, borrower, quote),
      );
    },
  };
}

function isQuotedAtDefaultTerm({ prices, schedules, termMonths, defaultTerm }: MortgageTables, { slot }: LoanQuote) {
  return schedules.termMonths[prices[slot + scheduleFigureIndex]!] === termMonths[defaultTerm];
}

/** Sets the sort keys `lowestApr` and `highestAmount`. The second key sorts by the largest loan in USD, then by APR. */
function setAprKeys(keys: OfferSortKeys, aprPercent: number, largestLoanUsd: number): void {
  keys.lowestApr = toAprHundredths(aprPercent);
  keys.highestAmount = keys.lowestApr - largestLoanUsd * amountWeight;
}

/** Converts an APR in percent to hundredths of a percent, rounded half up, as offers show it. */
export function toAprHundredths(percent: number): number {
  return roundHalfUp(percent * 100, 0);
}

/** Pricer of mortgage rankings. */
export const mortgagePricer = createMortgagePricer();

export const rankMortgages = createPricingRanker(mortgagePricer);
