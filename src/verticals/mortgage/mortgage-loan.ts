import type { VerticalProduct } from '../../catalogs/product.ts';
import { absentValue, type FieldVector, findFieldIndex, getChoiceValues } from '../../domain/field-vector.ts';
import type { Vertical } from '../../domain/vertical.ts';
import { computeMortgageStatistics } from './catalog-statistics.ts';
import { compileMortgageTables, type MortgageTables } from './mortgage-tables.ts';
import { mortgageSchema } from './offer-schema.ts';
import { createMortgageRenderer, mortgageViewMembers, priceMortgages } from './offer-view.ts';
import { createEmptyLoanQuote, createMortgageMismatchFinder, quoteLoan, readApplicant } from './quote-loan.ts';
import { rankMortgages } from './rank-mortgages.ts';
import { validateMortgageOffer, validateScheduleCount } from './validate-offer.ts';

/** Mortgage product: loans for a home with a fixed or an adjustable rate, with or without mortgage insurance. */
export const mortgageLoan = {
  isCredit: true,
  requiredRoles: ['creditBand', 'annualIncome', 'term', 'monthlyDebt'],
  schema: mortgageSchema,
  validateOffer: validateMortgageOffer,
  validateOffers: validateScheduleCount,
  compileCatalogTables: compileMortgageTables,
  computeStatistics: computeMortgageStatistics,
  needsOfferSource: true,
  createOfferRenderer: createMortgageRenderer,
  offerViewMembers: mortgageViewMembers,
  nullOfferMembers: [],
  sortOrderDescriptions: {
    recommended: 'best value for the borrower',
    lowest_apr: '`apr_range`, ascending',
    highest_amount: 'largest amount of `loan_amount_range` first',
  },
  rankOffers: rankMortgages,
  priceOffers: priceMortgages,
  createAvailabilityCheck(tables: MortgageTables, borrower) {
    const applicant = readApplicant(tables, borrower);
    const quote = createEmptyLoanQuote();
    return applicant && ((offer) => quoteLoan(tables, offer, applicant, quote));
  },
  createMismatchFinder: createMortgageMismatchFinder,
  findConflictingFields,
} satisfies VerticalProduct;

/**
 * Reports a down payment that is at least the value of the home, because such a purchase needs no loan. An absent purpose counts as a
 * purchase, because it may become one. Other purposes ignore the down payment.
 */
function findConflictingFields(vertical: Vertical, fields: Readonly<FieldVector>) {
  const purpose = fields[findFieldIndex(vertical, 'loan_purpose')]!;
  const downPayment = fields[findFieldIndex(vertical, 'down_payment')]!;
  const value = fields[findFieldIndex(vertical, 'property_value')]!;
  if (purpose !== absentValue && purpose !== getChoiceValues(vertical, 'loan_purpose').indexOf('purchase')) return null;
  if (downPayment === absentValue || value === absentValue || downPayment < value) return null;
  return {
    names: ['down_payment', 'property_value', 'loan_purpose'],
    rule: 'the down_payment of a purchase must be less than property_value',
  };
}
