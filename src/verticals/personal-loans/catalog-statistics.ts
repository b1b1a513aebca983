import { encodeChoiceValue, listOffersSortedById, meetsOfferCriteria } from '../../matching/match-tables.ts';
import { hasOffer } from '../../matching/offer-set.ts';
import { absentValue, findFieldIndex, getChoiceValues, listAllowedValues } from '../field-vector.ts';
import type { PocketField, Vertical } from '../vertical.ts';
import { compileLoanTables, type LoanTables, resolvePayoutModel } from './loan-tables.ts';
import type { LoanCatalog, LoanLender, LoanOffer } from './offer-schema.ts';

export interface NumberSummary {
  readonly min: number;
  readonly median: number;
  readonly max: number;
}

export type CatalogStatistics = ReturnType<typeof computeCatalogStatistics>;
export type CreditBandStatistics = CatalogStatistics['bands'][number];
export type FieldCoverage = CatalogStatistics['coverage'][number];

/** Computes the statistics of a catalog that `parseCatalog` accepted for this vertical. */
export function computeCatalogStatistics(catalog: LoanCatalog, vertical: Vertical) {
  const numbered = listOffersSortedById<LoanLender>(catalog);
  const offers = numbered.map(({ offer }) => offer);
  const tables = compileLoanTables(catalog, vertical);
  const bandNames = getChoiceValues(vertical, vertical.roles.creditBand);
  const states = getChoiceValues(vertical, vertical.roles.state);
  const shownIn = offers.map((_offer, at) => states.map((_state, state) => stateRulesAllowOffer(tables, at, state)));
  const count = (holds: (offer: LoanOffer, at: number) => boolean) => offers.filter(holds).length;
  const paid = (model: Vertical['revenueModel']) => {
    const some = offers.filter((offer) => resolvePayoutModel(offer, vertical) === model);
    return { offers: some.length, usd: summarizeNumbers(some.map(({ payout_usd }) => payout_usd)) };
  };
  const rules = (own: Readonly<Record<string, unknown>> | undefined) =>
    own !== undefined && Object.keys(own).length > 0;
  return {
    lenders: catalog.lenders.length,
    offers: offers.length,
    term_months: tables.termMonths,
    bands: bandNames.map((band, at) => computeBandStatistics(band, at, offers, tables, catalog.max_apr_percent)),
    /** For each value of a field, the number of offers that accept a borrower with this value under the state rules. */
    coverage: vertical.fields
      .filter((field) => isCoverageField(field, vertical))
      .map((field) => {
        const position = findFieldIndex(vertical, field.name);
        // If no offer has a criterion on the field, the field has no filter.
        const filter = tables.choiceFilters.find((candidate) => candidate.field === position);
        const open = (code: number, shown: (at: number) => boolean) =>
          count((_offer, at) => shown(at) && (filter === undefined || hasOffer(filter.allowed.get(code)!, at)));
        const isState = field.name === vertical.roles.state;
        return {
          field: field.name,
          offers: Object.fromEntries(
            listAllowedValues(field).map((value, place) => [
              String(value),
              open(encodeChoiceValue(field, value, place), (at) => (isState ? shownIn[at]![place]! : true)),
            ]),
          ),
          not_told: vertical.required.includes(field.name) ? 0 : open(absentValue, () => true),
        };
      }),
    payouts: { cost_per_lead: paid('cost_per_lead'), cost_per_click: paid('cost_per_click') },
    /** Number of offers that use each optional member of the catalog format. */
    using: {
      criteria: count(({ criteria }) => criteria.length > 0),
      min_credit_score: count(({ min_credit_score }) => min_credit_score !== undefined),
      max_debt_to_income_percent: count((offer) => offer.max_debt_to_income_percent !== undefined),
      'joint_applications required': count(({ joint_applications }) => joint_applications === 'required'),
      'joint_applications not_accepted': count(({ joint_applications }) => joint_applications === 'not_accepted'),
      'state_rules of lender or offer': numbered.filter(
        ({ lender, offer }) => rules(lender.state_rules) || rules(offer.state_rules),
      ).length,
      'prices by term': count(({ bands }) => Object.values(bands).some(({ terms }) => rules(terms))),
      daily_cap: count(({ daily_cap }) => daily_cap !== undefined),
      budget: count(({ budget }) => budget !== undefined),
      prequalification: count(({ prequalification }) => prequalification),
    },
    /** Ids of offers that no state allows. */
    never_shown: offers
      .filter(
        (offer, at) => !states.some((state, code) => shownIn[at]![code] && isOfferedInState(offer, state, vertical)),
      )
      .map(({ id }) => id),
  };
}

function computeBandStatistics(
  band: string,
  at: number,
  offers: readonly LoanOffer[],
  tables: LoanTables,
  aprCapPercent: number,
) {
  const rows = offers.map((_offer, offer) => offer * tables.bandCount + at).filter((row) => tables.amountMax[row]! > 0);
  const termCount = tables.termMonths.length;
  const aprs = rows.flatMap((row) =>
    tables.termMonths
      .map((_months, term) => row * termCount + term)
      .filter((slot) => tables.aprMaxPercent[slot]! <= aprCapPercent)
      .flatMap((slot) => [tables.aprMin[slot]! / 100, tables.aprMax[slot]! / 100]),
  );
  const priced = offers.flatMap(({ bands }, offer) =>
    tables.amountMax[offer * tables.bandCount + at]! > 0 ? [bands[band]!] : [],
  );
  return {
    band,
    offers: rows.length,
    note_rate_percent: summarizeNumbers(
      priced.flatMap(({ note_rate_percent, terms }) =>
        [note_rate_percent, ...Object.values(terms ?? {}).flatMap((term) => term.note_rate_percent ?? [])].flatMap(
          ({ min, max }) => [min, max],
        ),
      ),
    ),
    /** APRs of all offers and terms, except terms with an APR above the catalog's APR cap. */
    apr_percent: summarizeNumbers(aprs),
    origination_fee_percent: summarizeNumbers(priced.map(({ origination_fee_percent }) => origination_fee_percent)),
    approval_likelihood: summarizeNumbers(rows.map((row) => Math.round(tables.approvalLikelihood[row]! * 1e4) / 1e4)),
    /** Expected revenue of a click. */
    click_usd: summarizeNumbers(rows.map((row) => tables.expectedRevenueMicros[row]! / 1e6)),
  };
}

/** Whether a borrower of at least one credit band can get the offer, with some term and amount, under the rules of the state. */
function stateRulesAllowOffer(tables: LoanTables, offer: number, state: number): boolean {
  const rule = tables.stateRuleSet[offer]! * tables.stateCount + state;
  const amountMin = Math.max(tables.amountMin[offer]!, tables.stateAmountMin[rule]!);
  const termCount = tables.termMonths.length;
  for (let row = offer * tables.bandCount; row < (offer + 1) * tables.bandCount; row++) {
    if (tables.amountMax[row]! < amountMin) continue;
    for (let slot = row * termCount; slot < (row + 1) * termCount; slot++) {
      if (tables.aprMaxPercent[slot]! <= tables.stateAprCap[rule]!) return true;
    }
  }
  return false;
}

function isOfferedInState(offer: LoanOffer, state: string, vertical: Vertical): boolean {
  const field = vertical.fields.find(({ name }) => name === vertical.roles.state);
  return field !== undefined && meetsOfferCriteria(offer, field, state);
}

function isCoverageField(field: PocketField, { neverMatched }: Vertical): boolean {
  return listAllowedValues(field).length > 0 && !neverMatched?.includes(field.name);
}

function summarizeNumbers(numbers: readonly number[]): NumberSummary | null {
  if (numbers.length === 0) return null;
  const sorted = Float64Array.from(numbers).sort();
  const middle = (sorted[(sorted.length - 1) >> 1]! + sorted[sorted.length >> 1]!) / 2;
  return { min: sorted[0]!, median: Math.round(middle * 1e6) / 1e6, max: sorted.at(-1)! };
}
