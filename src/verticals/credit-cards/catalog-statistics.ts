import {
  type CatalogStatistics,
  computeCatalogStatistics,
  type OfferGroupStatistics,
  summarizeNumbers,
} from '../../catalogs/catalog-statistics.ts';
import type { Vertical } from '../../domain/vertical.ts';
import { compileCardTables, hasAnnualFee } from './card-tables.ts';
import { baseRewardCategory, type CardCatalog, type CardOffer } from './offer-schema.ts';

/** Computes the statistics of a card catalog, with the figures of each credit band. */
export function computeCardStatistics(catalog: CardCatalog, vertical: Vertical): CatalogStatistics {
  const offers = catalog.lenders.flatMap((lender) => lender.offers);
  const tables = compileCardTables(catalog, vertical);
  return computeCatalogStatistics<CardOffer>(catalog, vertical, tables, {
    groupedBy: 'band',
    groups: tables.bandNames.map((band) => computeBandStatistics(band, offers)),
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

function computeBandStatistics(band: string, offers: readonly CardOffer[]): OfferGroupStatistics {
  const served = offers.filter(({ bands }) => bands[band] !== undefined);
  const ranges = served.map(({ bands }) => bands[band]!.purchase_apr);
  return {
    name: band,
    offers: served.length,
    figures: {
      purchase_apr_percent: summarizeNumbers(ranges.flatMap(({ min, max }) => [min, max])),
      annual_fee_usd: summarizeNumbers(served.map(({ annual_fee }) => annual_fee)),
      base_reward_percent: summarizeNumbers(
        served.flatMap(({ rewards }) =>
          rewards.filter(({ category }) => category === baseRewardCategory).map((rate) => rate.percent),
        ),
      ),
      bonus_usd: summarizeNumbers(served.flatMap(({ bonus }) => bonus?.value ?? [])),
      approval: summarizeNumbers(served.map(({ bands }) => bands[band]!.approval_likelihood)),
      click_usd: summarizeNumbers(served.map(({ payout_usd }) => payout_usd)),
    },
  };
}
