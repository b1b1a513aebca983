import type { VerticalProduct } from '../products.ts';
import { findPriceMismatches } from './explain-price.ts';
import { compileLoanTables, type LoanTables } from './loan-tables.ts';
import { loanSchema } from './offer-schema.ts';
import { compileOffer, OfferFragments, priceRankedOffers, toOfferViews } from './offer-view.ts';
import { emptyApplicant, emptyOfferPrice, priceOffer, readApplicant } from './price-offer.ts';
import { prepareRanking, rankLoans } from './rank-loans.ts';
import { validateLoanOffer, validateTerms } from './validate-offer.ts';

/** Loan product: loans of a fixed amount that are repaid in equal monthly payments. */
export const installmentLoan = {
  schema: loanSchema,
  validateOffer: validateLoanOffer,
  validateOffers: validateTerms,
  compileTables: compileLoanTables,
  compileOffer,
  createOfferFragments: (...args) => new OfferFragments(...args),
  prepareRanking,
  rank: rankLoans,
  priceRankedOffers,
  toOfferViews,
  priceTest(tables: LoanTables, borrower) {
    const applicant = emptyApplicant();
    const price = emptyOfferPrice();
    if (!readApplicant(tables, borrower, applicant)) return null;
    return (offer) => priceOffer(tables, offer, applicant, price);
  },
  mismatchFinder: findPriceMismatches,
} satisfies VerticalProduct;
