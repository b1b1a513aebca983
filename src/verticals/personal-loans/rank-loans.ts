import { bounds } from '../../bounds.ts';
import { absentValue } from '../../domain/field-vector.ts';
import { rowOf } from '../../matching/match-tables.ts';
import { createPricingRanker, type OfferPricer } from '../../matching/pricing-ranker.ts';
import type { LoanTables } from './loan-tables.ts';
import { type Applicant, calculatePrice, createEmptyLoanPrice, readApplicant } from './price-offer.ts';
import { computeRecommendationScore, computeTermFit } from './recommendation-score.ts';

const price = createEmptyLoanPrice();
/** Weighted loan term score of the current applicant for each term, in the order of `LoanTables.termMonths`. */
const termFits = new Float64Array(bounds.catalogTermsMax);

/** Sort keys of loans (docs/contract.md#sort-orders). */
export const loanPricer: OfferPricer<LoanTables, Applicant> = {
  readApplicant(tables, borrower) {
    const applicant = readApplicant(tables, borrower);
    if (applicant === null) return null;
    const requested = applicant.termMonths === absentValue ? null : applicant.termMonths;
    for (const [term, months] of tables.termMonths.entries()) termFits[term] = computeTermFit(requested, months);
    return applicant;
  },
  computeSortKeys(tables, offer, applicant, keys) {
    if (!calculatePrice(tables, offer, applicant, price)) return false;
    const { slot, amountMax } = price;
    keys.recommended = -computeRecommendationScore(
      tables.fixedScore[slot]!,
      termFits[tables.slotTerm[slot]!]!,
      applicant.amount,
      amountMax,
    );
    // By the lower end of the displayed APR range, then by the upper end. The key is below 2^24.
    const aprKey = tables.aprMin[slot]! * 4_096 + tables.aprMax[slot]!;
    keys.lowestApr = aprKey;
    keys.highestAmount = aprKey - amountMax * 2 ** 24;
    keys.revenue = -tables.expectedRevenueMicros[rowOf(tables, offer, applicant.creditBand)]!;
    return true;
  },
};

/** Ranks the offers of a loan catalog. */
export const rankLoans = createPricingRanker(loanPricer);
