import {
  type CatalogStatistics,
  computeCatalogStatistics,
  type OfferGroupStatistics,
  summarizeGroup,
} from '../../catalogs/catalog-statistics.ts';
import { getChoiceValues } from '../../domain/field-vector.ts';
import type { Vertical } from '../../domain/vertical.ts';
import { rowOf } from '../../matching/match-tables.ts';
import { compileLoanTables, type LoanTables, listSlots } from './loan-tables.ts';
import { type LoanCatalog, type LoanOffer, resolvePayoutModel } from './offer-schema.ts';

/** Computes the statistics of a loan catalog, with the prices of each credit band. */
export function computeLoanStatistics(catalog: LoanCatalog, vertical: Vertical): CatalogStatistics {
  const tables = compileLoanTables(catalog, vertical);
  const bandNames = getChoiceValues(vertical, vertical.roles.creditBand);
  const withLenderRules = new Set(
    catalog.lenders.filter(({ state_rules }) => hasRules(state_rules)).flatMap(({ offers }) => offers),
  );
  return computeCatalogStatistics<LoanOffer>(catalog, vertical, tables, {
    groupedBy: 'band',
    summarizeGroups: (offers) =>
      bandNames.map((band, at) => summarizeBand(band, at, offers, tables, catalog.max_apr_percent)),
    usage: {
      min_credit_score: ({ min_credit_score }) => min_credit_score !== undefined,
      max_debt_to_income_percent: (offer) => offer.max_debt_to_income_percent !== undefined,
      'joint_applications required': ({ joint_applications }) => joint_applications === 'required',
      'joint_applications not_accepted': ({ joint_applications }) => joint_applications === 'not_accepted',
      'state_rules of lender or offer': (offer) => withLenderRules.has(offer) || hasRules(offer.state_rules),
      'prices by term': ({ bands }) => Object.values(bands).some(({ terms }) => hasRules(terms)),
    },
    payoutModelOf: (offer) => resolvePayoutModel(offer, vertical),
    isAllowedInState: (offer, state) => stateRulesAllowOffer(tables, offer, state),
  });
}

function hasRules(rules: Readonly<Record<string, unknown>> | undefined): boolean {
  return rules !== undefined && Object.keys(rules).length > 0;
}

function summarizeBand(
  name: string,
  band: number,
  offers: readonly LoanOffer[],
  tables: LoanTables,
  aprCapPercent: number,
): OfferGroupStatistics {
  const served = offers
    .map((offer, at) => ({ price: offer.bands[name]!, row: rowOf(tables, at, band) }))
    .filter(({ row }) => tables.amountMax[row]! > 0);
  return summarizeGroup(name, served, {
    note_rate_percent: ({ price: { note_rate_percent, terms } }) =>
      [note_rate_percent, ...Object.values(terms ?? {}).flatMap((term) => term.note_rate_percent ?? [])].flatMap(
        ({ min, max }) => [min, max],
      ),
    // APRs of all offers and terms, except terms with an APR above the catalog's APR cap.
    apr_percent: ({ row }) =>
      listSlots(tables, row)
        .filter((slot) => tables.aprMaxPercent[slot]! <= aprCapPercent)
        .flatMap((slot) => [tables.aprMin[slot]! / 100, tables.aprMax[slot]! / 100]),
    fee_percent: ({ price }) => price.origination_fee_percent,
    approval: ({ row }) => Math.round(tables.approvalLikelihood[row]! * 1e4) / 1e4,
    // Expected revenue of a click.
    click_usd: ({ row }) => tables.expectedRevenueMicros[row]! / 1e6,
  });
}

/** Whether a borrower of at least one credit band can get the offer, with some term and amount, under the rules of the state. */
function stateRulesAllowOffer(tables: LoanTables, offer: number, state: number): boolean {
  const rule = tables.stateRuleSet[offer]! * tables.stateCount + state;
  const amountMin = Math.max(tables.amountMin[offer]!, tables.stateAmountMin[rule]!);
  for (let band = 0; band < tables.bandCount; band++) {
    const row = rowOf(tables, offer, band);
    if (tables.amountMax[row]! < amountMin) continue;
    if (listSlots(tables, row).some((slot) => tables.aprMaxPercent[slot]! <= tables.stateAprCap[rule]!)) return true;
  }
  return false;
}
