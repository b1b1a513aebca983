import type { VerticalProduct } from '../../catalogs/product.ts';
import { type CardTables, compileCardTables } from './card-tables.ts';
import { cardViewMembers, createCardRenderer, priceCards } from './card-view.ts';
import { computeCardStatistics } from './catalog-statistics.ts';
import { cardSchema } from './offer-schema.ts';
import { createCardMismatchFinder, isWithinDeposit, readApplicant } from './price-card.ts';
import { rankCards } from './rank-cards.ts';
import { validateCardOffer } from './validate-card-offer.ts';

/** Product of credit cards, which have an APR range for each credit band, fees, rewards and introductory rates. */
export const creditCard = {
  isCredit: true,
  requiredRoles: ['creditBand'],
  schema: cardSchema,
  validateOffer: validateCardOffer,
  compileCatalogTables: compileCardTables,
  computeStatistics: computeCardStatistics,
  needsOfferSource: true,
  createOfferRenderer: createCardRenderer,
  offerViewMembers: cardViewMembers,
  nullOfferMembers: ['payment_term_months', 'monthly_payment_estimate', 'loan_amount_range'],
  sortOrderDescriptions: {
    recommended: 'best value for the borrower',
    lowest_apr: '`apr_range`, ascending',
    highest_amount: '`card.first_year_value`, descending',
    svc_revenue: 'highest payout of a click first',
  },
  rankOffers: rankCards,
  priceOffers: priceCards,
  createAvailabilityCheck(tables: CardTables, borrower) {
    const applicant = readApplicant(tables, borrower);
    // The filters of the tables check all other rules.
    return applicant && ((offer) => isWithinDeposit(tables, offer, applicant));
  },
  createMismatchFinder: createCardMismatchFinder,
} satisfies VerticalProduct;
