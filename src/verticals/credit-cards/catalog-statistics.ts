import { type CatalogStatistics, computeCatalogStatistics, summarizeGroup } from '../../catalogs/catalog-statistics.ts';
import type { Vertical } from '../../domain/vertical.ts';
import { compileCardTables, hasAnnualFee } from './card-tables.ts';
import { baseRewardCategory, type CardCatalog, type CardOffer } from './offer-schema.ts';

/** Computes the statistics of a card catalog, with the figures of each credit band. */
export function computeCardStatistics(catalog: CardCatalog, vertical: Vertical): CatalogStatistics {
  const tables = compileCardTables(catalog, vertical);
  return computeCatalogStatistics<CardOffer>(catalog, vertical, tables, {
    groupedBy: 'band',
    summarizeGroups: (offers) =>
      tables.bandNames.map((band) => {
        const served = offers.filter(({ bands }) => bands[band] !== undefined);
        return summarizeGroup(band, served, {
          purchase_apr_percent: ({ bands }) => Object.values(bands[band]!.purchase_apr),
          annual_fee_usd: ({ annual_fee }) => annual_fee,
          base_reward_percent: ({ rewards }) =>
            rewards.find(({ category }) => category === baseRewardCategory)?.percent,
          bonus_usd: ({ bonus }) => bonus?.value,
          approval: ({ bands }) => bands[band]!.approval_likelihood,
          click_usd: ({ payout_usd }) => payout_usd,
        });
      }),
    usage: {
      annual_fee: hasAnnualFee,
      annual_fee_first_year: ({ annual_fee_first_year }) => annual_fee_first_year !== undefined,
      intro_purchase_apr: ({ intro_purchase_apr }) => intro_purchase_apr !== undefined,
      intro_transfer_apr: ({ intro_transfer_apr }) => intro_transfer_apr !== undefined,
      penalty_apr: ({ penalty_apr }) => penalty_apr !== undefined,
      bonus: ({ bonus }) => bonus !== undefined,
      variable: ({ variable }) => variable === true,
      security_deposit_min: ({ security_deposit_min }) => security_deposit_min !== undefined,
      security_deposit_max: ({ security_deposit_max }) => security_deposit_max !== undefined,
      'transfer_apr of a band': ({ bands }) =>
        Object.values(bands).some(({ transfer_apr }) => transfer_apr !== undefined),
    },
  });
}
