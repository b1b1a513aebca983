import { type CatalogStatistics, computeCatalogStatistics, summarizeGroup } from '../../catalogs/catalog-statistics.ts';
import type { Vertical } from '../../domain/vertical.ts';
import { compileMortgageTables } from './mortgage-tables.ts';
import { listOfferPrices, loanTypes, type MortgageCatalog, type MortgageOffer } from './offer-schema.ts';
import type { Price } from './price-parts.ts';

/** Computes the statistics of a mortgage catalog, with the prices of each loan type. */
export function computeMortgageStatistics(catalog: MortgageCatalog, vertical: Vertical): CatalogStatistics {
  return computeCatalogStatistics<MortgageOffer>(catalog, vertical, compileMortgageTables(catalog, vertical), {
    groupedBy: 'loan_type',
    summarizeGroups: (offers) =>
      loanTypes.map((loanType) => {
        const ofType = offers.filter(({ loan_type }) => loan_type === loanType);
        return summarizeGroup(loanType, ofType, {
          rate_percent: listPriceFigures(({ rate_percent }) => rate_percent / 1_000),
          points_percent: listPriceFigures(({ points_percent }) => points_percent / 1_000),
          lender_fees_usd: listPriceFigures(({ lender_fees_usd }) => lender_fees_usd),
          max_ltv_percent: ({ bands }) => Object.values(bands).map(({ max_ltv_percent }) => max_ltv_percent),
          approval: ({ bands }) => Object.values(bands).map(({ approval_likelihood }) => approval_likelihood),
          // Expected revenue of a click.
          click_usd: ({ payout_usd, bands }) =>
            Object.values(bands).map(({ confirm_rate }) => Math.round(payout_usd * confirm_rate * 1e6) / 1e6),
        });
      }),
    usage: {
      adjustable: ({ adjustable }) => adjustable !== undefined,
      max_debt_to_income_percent: (offer) => offer.max_debt_to_income_percent !== undefined,
    },
  });
}

function listPriceFigures(read: (price: Price) => number): (offer: MortgageOffer) => number[] {
  return (offer) => listOfferPrices(offer).map(({ price }) => read(price));
}
