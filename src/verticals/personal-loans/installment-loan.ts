import type { VerticalProduct } from '../../catalogs/product.ts';
import { computeLoanStatistics } from './catalog-statistics.ts';
import { compileLoanTables, type LoanTables } from './loan-tables.ts';
import { loanSchema, validateLoanOffer, validateLoanTermCount } from './offer-schema.ts';
import { calculateLoanPrices, createLoanRenderer } from './offer-view.ts';
import { calculatePrice, createEmptyLoanPrice, createLoanMismatchFinder, readApplicant } from './price-offer.ts';
import { rankLoans } from './rank-loans.ts';

/** Loan product: loans of a fixed amount that are repaid in equal monthly payments. */
export const installmentLoan = {
  isCredit: true,
  requiredRoles: ['amount', 'creditBand', 'annualIncome'],
  schema: loanSchema,
  validateOffer: validateLoanOffer,
  validateOffers: validateLoanTermCount,
  compileCatalogTables: compileLoanTables,
  computeStatistics: computeLoanStatistics,
  needsOfferSource: false,
  createOfferRenderer: createLoanRenderer,
  offerViewMembers: {},
  nullOfferMembers: [],
  sortOrderDescriptions: {
    recommended: 'best value for the borrower',
    lowest_apr: '`apr_range`, ascending',
    highest_amount: 'largest amount of `loan_amount_range` first',
    svc_revenue: 'highest expected revenue of a click first',
  },
  rankOffers: rankLoans,
  priceOffers: calculateLoanPrices,
  createAvailabilityCheck(tables: LoanTables, borrower) {
    const applicant = readApplicant(tables, borrower);
    const price = createEmptyLoanPrice();
    return applicant && ((offer) => calculatePrice(tables, offer, applicant, price));
  },
  createMismatchFinder: createLoanMismatchFinder,
} satisfies VerticalProduct;
