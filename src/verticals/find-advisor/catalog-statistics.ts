import { type CatalogStatistics, computeCatalogStatistics, summarizeGroup } from '../../catalogs/catalog-statistics.ts';
import type { Vertical } from '../../domain/vertical.ts';
import { compileAdvisorTables } from './advisor-tables.ts';
import { type AdvisorCatalog, type AdvisorOffer, feeModels } from './offer-schema.ts';

/** Computes the statistics of a catalog of advisors, with one group for each fee model. */
export function computeAdvisorStatistics(catalog: AdvisorCatalog, vertical: Vertical): CatalogStatistics {
  return computeCatalogStatistics<AdvisorOffer>(catalog, vertical, compileAdvisorTables(catalog, vertical), {
    groupedBy: 'fee_model',
    summarizeGroups: (offers) =>
      feeModels.map((model) => {
        const ofModel = offers.filter(({ fee_model }) => fee_model === model);
        return summarizeGroup(model, ofModel, {
          fee_percent: ({ fee_tiers = [] }) => fee_tiers.map(({ percent }) => percent),
          fee_usd: ({ fee_usd }) => fee_usd,
          estimated_annual_fee_usd: (offer) => offer.estimated_annual_fee,
          minimum_assets_usd: ({ minimum_assets }) => minimum_assets,
          lead_usd: ({ payout_usd }) => payout_usd,
        });
      }),
    usage: {
      'several fee_tiers': ({ fee_tiers = [] }) => fee_tiers.length > 1,
      fiduciary: ({ fiduciary }) => fiduciary,
      has_disclosures: ({ has_disclosures }) => has_disclosures,
    },
  });
}
