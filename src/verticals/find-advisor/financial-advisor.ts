import type { VerticalProduct } from '../../catalogs/product.ts';
import { TemplateOfferRenderer } from '../common/template-offer-renderer.ts';
import { type AdvisorTables, compileAdvisorTables } from './advisor-tables.ts';
import { advisorViewMembers, calculateAdvisorFees, copyAdvisorFigures } from './advisor-view.ts';
import { computeAdvisorStatistics } from './catalog-statistics.ts';
import { advisorSchema, validateAdvisorOffer } from './offer-schema.ts';
import { advisorPricer, createAdvisorMismatchFinder, rankAdvisors } from './rank-advisors.ts';

/** Product of financial advisors, who pay for each lead that they accept. */
export const financialAdvisor = {
  requiredRoles: [],
  schema: advisorSchema,
  validateOffer: validateAdvisorOffer,
  compileCatalogTables: compileAdvisorTables,
  computeStatistics: computeAdvisorStatistics,
  needsOfferSource: true,
  createOfferRenderer: (...options) => new TemplateOfferRenderer(options, copyAdvisorFigures),
  offerViewMembers: advisorViewMembers,
  nullOfferMembers: ['apr_range', 'payment_term_months', 'monthly_payment_estimate', 'loan_amount_range'],
  sortOrderDescriptions: {
    recommended: 'best value for the visitor',
    lowest_apr: '`advisor.estimated_annual_fee`, ascending, because advisors have no APR',
    highest_amount: '`advisor.minimum_assets`, descending: the advisors with the largest clients first',
    svc_revenue: 'highest payout of an accepted lead first',
  },
  rankOffers: rankAdvisors,
  priceOffers: calculateAdvisorFees,
  createAvailabilityCheck(tables: AdvisorTables, borrower) {
    const assets = advisorPricer.readApplicant(tables, borrower)?.assets;
    return assets === undefined ? null : (offer) => assets >= tables.minimumAssets[offer]!;
  },
  createMismatchFinder: createAdvisorMismatchFinder,
} satisfies VerticalProduct;
