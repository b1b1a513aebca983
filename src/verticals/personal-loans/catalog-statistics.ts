import {
  type CatalogStatistics,
  computeCatalogStatistics,
  type OfferGroupStatistics,
  summarizeNumbers,
} from '../../catalogs/catalog-statistics.ts';
import { getChoiceValues } from '../../domain/field-vector.ts';
import type { Vertical } from '../../domain/vertical.ts';
import { listOffersSortedById, rowOf } from '../../matching/match-tables.ts';
import { compileLoanTables, type LoanTables, listSlots } from './loan-tables.ts';
import { type LoanCatalog, type LoanLender, type LoanOffer, resolvePayoutModel } from './offer-schema.ts';

/** Computes the statistics of a loan catalog, with the prices of each credit band. */
export function computeLoanStatistics(catalog: LoanCatalog, vertical: Vertical): CatalogStatistics {
  const numbered = listOffersSortedById<LoanLender>(catalog);
  const offers = numbered.map(({ offer }) => offer);
  const tables = compileLoanTables(catalog, vertical);
  const bandNames = getChoiceValues(vertical, vertical.roles.creditBand);
  const lendersWithRules = new Set(
    numbered.filter(({ lender }) => hasRules(lender.state_rules)).map(({ offer }) => offer),
  );
  return computeCatalogStatistics<LoanOffer>(catalog, vertical, tables, {
    groupedBy: 'band',
    groups: bandNames.map((band, at) => computeBandStatistics(band, at, offers, tables, catalog.max_apr_percent)),
    usage: {
      min_credit_score: ({ min_credit_score }) => min_credit_score !== undefined,
      max_debt_to_income_percent: (offer) => offer.max_debt_to_income_percent !== undefined,
      'joint_applications required': ({ joint_applications }) => joint_applications === 'required',
      'joint_applications not_accepted': ({ joint_applications }) => joint_applications === 'not_accepted',
      'state_rules of lender or offer': (offer) => lendersWithRules.has(offer) || hasRules(offer.state_rules),
      'prices by term': ({ bands }) => Object.values(bands).some(({ terms }) => hasRules(terms)),
    },
    payoutModelOf: (offer) => resolvePayoutModel(offer, vertical),
    isAllowedInState: (offer, state) => stateRulesAllowOffer(tables, offer, state),
  });
}

function hasRules(rules: Readonly<Record<string, unknown>> | undefined): boolean {
  return rules !== undefined && Object.keys(rules).length > 0;
}

function computeBandStatistics(
  band: string,
  at: number,
  offers: readonly LoanOffer[],
  tables: LoanTables,
  aprCapPercent: number,
): OfferGroupStatistics {
  const rows = offers.map((_offer, offer) => rowOf(tables, offer, at)).filter((row) => tables.amountMax[row]! > 0);
  const aprs = rows
    .flatMap((row) => listSlots(tables, row))
    .filter((slot) => tables.aprMaxPercent[slot]! <= aprCapPercent)
    .flatMap((slot) => [tables.aprMin[slot]! / 100, tables.aprMax[slot]! / 100]);
  const priced = offers.flatMap(({ bands }, offer) =>
    tables.amountMax[rowOf(tables, offer, at)]! > 0 ? [bands[band]!] : [],
  );
  return {
    name: band,
    offers: rows.length,
    figures: {
      note_rate_percent: summarizeNumbers(
        priced.flatMap(({ note_rate_percent, terms }) =>
          [note_rate_percent, ...Object.values(terms ?? {}).flatMap((term) => term.note_rate_percent ?? [])].flatMap(
            ({ min, max }) => [min, max],
          ),
        ),
      ),
      // APRs of all offers and terms, except terms with an APR above the catalog's APR cap.
      apr_percent: summarizeNumbers(aprs),
      fee_percent: summarizeNumbers(priced.map(({ origination_fee_percent }) => origination_fee_percent)),
      approval: summarizeNumbers(rows.map((row) => Math.round(tables.approvalLikelihood[row]! * 1e4) / 1e4)),
      // Expected revenue of a click.
      click_usd: summarizeNumbers(rows.map((row) => tables.expectedRevenueMicros[row]! / 1e6)),
    },
  };
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
