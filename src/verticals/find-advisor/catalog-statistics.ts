import {
  type CatalogStatistics,
  computeCatalogStatistics,
  type OfferGroupStatistics,
  summarizeNumbers,
} from '../../catalogs/catalog-statistics.ts';
import type { Vertical } from '../../domain/vertical.ts';
import { compileAdvisorTables } from './advisor-tables.ts';
import { type AdvisorCatalog, type AdvisorOffer, feeModels } from './offer-schema.ts';

/** Computes the statistics of a catalog of advisors, with one group for each fee model. */
export function computeAdvisorStatistics(catalog: AdvisorCatalog, vertical: Vertical): CatalogStatistics {
  const offers = catalog.lenders.flatMap((lender) => lender.offers);
  return computeCatalogStatistics<AdvisorOffer>(catalog, vertical, compileAdvisorTables(catalog, vertical), {
    groupedBy: 'fee_model',
    groups: feeModels.map((model) =>
      summarizeGroup(
        model,
        offers.filter(({ fee_model }) => fee_model === model),
      ),
    ),
    usage: {
      'several fee_tiers': ({ fee_tiers = [] }) => fee_tiers.length > 1,
      fiduciary: ({ fiduciary }) => fiduciary,
      has_disclosures: ({ has_disclosures }) => has_disclosures,
    },
  });
}

function summarizeGroup(name: string, offers: readonly AdvisorOffer[]): OfferGroupStatistics {
  const summarize = (read: (offer: AdvisorOffer) => readonly number[] | number | undefined) =>
    summarizeNumbers(offers.flatMap((offer) => read(offer) ?? []));
  return {
    name,
    offers: offers.length,
    figures: {
      fee_percent: summarize(({ fee_tiers = [] }) => fee_tiers.map(({ percent }) => percent)),
      fee_usd: summarize(({ fee_usd }) => fee_usd),
      estimated_annual_fee_usd: summarize((offer) => offer.estimated_annual_fee),
      minimum_assets_usd: summarize(({ minimum_assets }) => minimum_assets),
      lead_usd: summarize(({ payout_usd }) => payout_usd),
    },
  };
}
