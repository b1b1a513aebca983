import {
  type CatalogStatistics,
  computeCatalogStatistics,
  type OfferGroupStatistics,
  summarizeGroup,
} from '../../catalogs/catalog-statistics.ts';
import { getChoiceValues } from '../../domain/field-vector.ts';
import type { Vertical } from '../../domain/vertical.ts';
import { compileDepositTables } from './deposit-tables.ts';
import type { DepositCatalog, DepositOffer } from './offer-schema.ts';

/** Computes the statistics of a deposit catalog: one group for each kind of account, and one for each term of certificates of deposit. */
export function computeDepositStatistics(catalog: DepositCatalog, vertical: Vertical): CatalogStatistics {
  return computeCatalogStatistics<DepositOffer>(catalog, vertical, compileDepositTables(catalog, vertical), {
    groupedBy: 'product',
    summarizeGroups: (offers) =>
      getChoiceValues(vertical, 'product_type').flatMap((type) => summarizeTerms(type, offers)),
    usage: {
      'several tiers': ({ tiers }) => tiers.length > 1,
      'tier_method marginal': ({ tier_method }) => tier_method === 'marginal',
      monthly_fee: ({ monthly_fee }) => monthly_fee > 0,
      fee_waived_from: ({ fee_waived_from }) => fee_waived_from !== undefined,
      early_withdrawal_penalty_days: (offer) => offer.early_withdrawal_penalty_days !== undefined,
      introductory: ({ introductory }) => introductory !== undefined,
      steps: ({ steps }) => steps !== undefined,
      bonus: ({ bonus }) => bonus !== undefined,
      'bonus for direct_deposit': ({ bonus }) => bonus?.direct_deposit === true,
      'bonus for new_customer': ({ bonus }) => bonus?.new_customer === true,
      'insured_by ncua': ({ insured_by }) => insured_by === 'ncua',
    },
  });
}

function summarizeTerms(type: string, offers: readonly DepositOffer[]): OfferGroupStatistics[] {
  const some = offers.filter(({ product_type }) => product_type === type);
  const terms = [...new Set(some.map(({ term_months }) => term_months))].sort((a, b) => (a ?? 0) - (b ?? 0));
  return terms.map((term) => {
    const name = term === undefined ? type : `${type} ${term} months`;
    const ofTerm = some.filter(({ term_months }) => term_months === term);
    return summarizeGroup(name, ofTerm, {
      rate_percent: ({ tiers }) => tiers.map(({ rate }) => rate),
      apy_percent: ({ tiers }) => tiers.map(({ apy }) => apy),
      minimum_deposit_usd: ({ minimum_deposit }) => minimum_deposit,
      monthly_fee_usd: ({ monthly_fee }) => monthly_fee,
      bonus_usd: ({ bonus }) => bonus?.amount,
      click_usd: ({ payout_usd }) => payout_usd,
    });
  });
}
