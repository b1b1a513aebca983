import {
  type CatalogStatistics,
  computeCatalogStatistics,
  type OfferGroupStatistics,
  summarizeNumbers,
} from '../../catalogs/catalog-statistics.ts';
import type { Vertical } from '../../domain/vertical.ts';
import { listOffersSortedById } from '../../matching/match-tables.ts';
import { compileMortgageTables } from './mortgage-tables.ts';
import {
  listOfferPrices,
  loanTypes,
  type MortgageCatalog,
  type MortgageLender,
  type MortgageOffer,
} from './offer-schema.ts';

/** Computes the statistics of a mortgage catalog, with the prices of each loan type. */
export function computeMortgageStatistics(catalog: MortgageCatalog, vertical: Vertical): CatalogStatistics {
  const offers = listOffersSortedById<MortgageLender>(catalog).map(({ offer }) => offer);
  return computeCatalogStatistics<MortgageOffer>(catalog, vertical, compileMortgageTables(catalog, vertical), {
    groupedBy: 'loan_type',
    groups: loanTypes.map((loanType) =>
      computeTypeStatistics(
        loanType,
        offers.filter(({ loan_type }) => loan_type === loanType),
      ),
    ),
    usage: {
      adjustable: ({ adjustable }) => adjustable !== undefined,
      max_debt_to_income_percent: (offer) => offer.max_debt_to_income_percent !== undefined,
    },
  });
}

function computeTypeStatistics(name: string, offers: readonly MortgageOffer[]): OfferGroupStatistics {
  const prices = offers.flatMap(listOfferPrices).map(({ price }) => price);
  const bands = offers.flatMap(({ bands }) => Object.values(bands));
  return {
    name,
    offers: offers.length,
    figures: {
      rate_percent: summarizeNumbers(prices.map(({ rate_percent }) => rate_percent / 1_000)),
      points_percent: summarizeNumbers(prices.map(({ points_percent }) => points_percent / 1_000)),
      lender_fees_usd: summarizeNumbers(prices.map(({ lender_fees_usd }) => lender_fees_usd)),
      max_ltv_percent: summarizeNumbers(bands.map(({ max_ltv_percent }) => max_ltv_percent)),
      approval: summarizeNumbers(bands.map(({ approval_likelihood }) => approval_likelihood)),
      // Expected revenue of a click.
      click_usd: summarizeNumbers(
        offers.flatMap(({ payout_usd, bands: byBand }) =>
          Object.values(byBand).map(({ confirm_rate }) => Math.round(payout_usd * confirm_rate * 1e6) / 1e6),
        ),
      ),
    },
  };
}
