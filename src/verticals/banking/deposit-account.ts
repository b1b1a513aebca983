import type { VerticalProduct } from '../../catalogs/product.ts';
import { TemplateOfferRenderer } from '../common/template-offer-renderer.ts';
import { computeDepositStatistics } from './catalog-statistics.ts';
import { compileDepositTables, type DepositTables } from './deposit-tables.ts';
import { calculateDepositPrices, copyDepositFigures, depositViewSchema } from './deposit-view.ts';
import { depositSchema, validateDepositOffer } from './offer-schema.ts';
import { createDepositMismatchFinder, readDepositor } from './price-deposit.ts';
import { rankDeposits } from './rank-deposits.ts';

/** Deposit product: savings, checking and money market accounts, and certificates of deposit. */
export const depositAccount = {
  requiredRoles: [],
  schema: depositSchema,
  validateOffer: validateDepositOffer,
  compileCatalogTables: compileDepositTables,
  computeStatistics: computeDepositStatistics,
  needsOfferSource: true,
  createOfferRenderer: (...options) => new TemplateOfferRenderer(options, copyDepositFigures),
  offerViewMembers: { deposit: depositViewSchema },
  nullOfferMembers: ['apr_range', 'payment_term_months', 'monthly_payment_estimate', 'loan_amount_range'],
  sortOrderDescriptions: {
    recommended: 'best value for the depositor',
    lowest_apr: '`deposit.apy`, descending, because deposits have no APR',
    highest_amount: '`deposit.first_year_earnings`, descending',
    svc_revenue: 'highest payout of a click first',
  },
  rankOffers: rankDeposits,
  priceOffers: calculateDepositPrices,
  createAvailabilityCheck(tables: DepositTables, borrower) {
    const depositor = readDepositor(tables, borrower);
    return depositor && ((offer) => depositor.deposit >= tables.minimumDeposit[offer]!);
  },
  createMismatchFinder: createDepositMismatchFinder,
} satisfies VerticalProduct;
