import { roundHalfUp, usdToMicros } from '../../domain/money.ts';
import { compileFilters, type MatchTables, offersById, orderLengthOf } from '../../matching/match-tables.ts';
import { choiceValues, fieldIndex } from '../field-vector.ts';
import { aprPercent, paymentFactor } from '../loan-math.ts';
import type { Vertical } from '../vertical.ts';
import {
  compileStateRules,
  loanFieldRules,
  offerPayoutModel,
  type StateRuleTables,
  servedScoreShare,
  termPrice,
} from './offer-rules.ts';
import type { LoanCatalog, LoanOffer } from './offer-schema.ts';
import { debtShareScale } from './price-offer.ts';

/** Tables of a loan catalog: the columns that only loans have. A *slot* is a row (an offer in a credit band) at one term. */
export interface LoanTables extends MatchTables, StateRuleTables {
  /** All terms of the catalog, in months, ascending. A set of terms is a number with one bit per term, in this order. */
  readonly termMonths: readonly number[];
  /** Terms by preference if the requested term is not available: nearest to 36 months first, then the shorter term. */
  readonly termPreference: readonly number[];
  readonly roles: LoanRoleIndexes;

  /** Minimum amount of each offer, in USD. */
  readonly amountMin: Float64Array;
  /** For each offer: maximum share of income for existing debt and the new payment, in millionths; infinite for no limit. */
  readonly debtToIncomeMax: Float64Array;
  readonly stars: Float64Array;

  /** Largest amount of each row, in USD; 0 if the offer does not serve the credit band. */
  readonly amountMax: Float64Array;
  readonly approvalLikelihood: Float64Array;

  /** Lower end of the APR range of each slot, and upper end in `aprMax`, in hundredths of a percent, as shown to the borrower. */
  readonly aprMin: Uint16Array;
  readonly aprMax: Uint16Array;
  /** Upper end of the APR range of each slot in percent, unrounded; infinite if the offer does not have the term. */
  readonly aprMaxPercent: Float64Array;
  /** Monthly payment of each slot per dollar of principal, at the midpoint of the note rates. */
  readonly paymentFactor: Float64Array;
}

/** Positions of fields in the vector of a borrower; the position is -1 if the vertical has no such field. */
type LoanRoleIndexes = MatchTables['roles'] &
  Readonly<Record<'amount' | 'creditBand' | 'annualIncome' | 'term' | 'monthlyDebt', number>>;

/** Compiles a catalog that `parseCatalog` accepted for this vertical. */
export function compileLoanTables(catalog: LoanCatalog, vertical: Vertical): LoanTables {
  const numbered = offersById<LoanCatalog['lenders'][number]>(catalog);
  const offers = numbered.map(({ offer }) => offer);
  const { roles } = vertical;
  const bands = choiceValues(vertical, roles.creditBand);
  const states = choiceValues(vertical, roles.state);
  const termMonths = [...new Set(offers.flatMap((offer) => offer.term_months))].sort((a, b) => a - b);
  const memoizedApr = memoizeApr();
  const indexOf = (name: string | undefined) => (name === undefined ? -1 : fieldIndex(vertical, name));

  const rows = offers.length * bands.length;
  const slots = rows * termMonths.length;
  const tables = {
    product: 'installment_loan',
    offerCount: offers.length,
    bandCount: bands.length,
    orderLength: orderLengthOf(offers),
    termMonths,
    termPreference: termMonths
      .map((months, term) => ({ distance: Math.abs(months - 36), term }))
      .sort((a, b) => a.distance - b.distance || a.term - b.term)
      .map(({ term }) => term),
    roles: {
      amount: indexOf(roles.amount),
      creditBand: indexOf(roles.creditBand),
      annualIncome: indexOf(roles.annualIncome),
      state: indexOf(roles.state),
      term: indexOf(roles.term),
      monthlyDebt: indexOf(roles.monthlyDebt),
      birthdate: indexOf(roles.birthdate),
    },
    stateAgeMin: Uint8Array.from(states, (state) => catalog.state_rules[state]?.min_age ?? 0),
    ...compileFilters(offers, vertical, loanFieldRules(offers, vertical)),
    ...compileStateRules(catalog, numbered, states),
    amountMin: new Float64Array(offers.length),
    debtToIncomeMax: new Float64Array(offers.length).fill(Number.POSITIVE_INFINITY),
    stars: new Float64Array(offers.length),
    amountMax: new Float64Array(rows),
    approvalLikelihood: new Float64Array(rows),
    expectedRevenueMicros: new Float64Array(rows),
    aprMin: new Uint16Array(slots),
    aprMax: new Uint16Array(slots),
    aprMaxPercent: new Float64Array(slots).fill(Number.POSITIVE_INFINITY),
    paymentFactor: new Float64Array(slots),
  } satisfies LoanTables;

  for (const [index, offer] of offers.entries()) {
    tables.amountMin[index] = offer.amount.min;
    tables.stars[index] = offer.stars;
    if (offer.max_debt_to_income_percent !== undefined) {
      tables.debtToIncomeMax[index] = Math.round((offer.max_debt_to_income_percent * debtShareScale) / 100);
    }
    for (const [bandName, band] of Object.entries(offer.bands)) {
      const bandIndex = bands.indexOf(bandName);
      const share = servedScoreShare(offer, vertical, bandIndex);
      if (share === 0) continue;
      const row = index * bands.length + bandIndex;
      tables.amountMax[row] = Math.min(offer.amount.max, band.max_amount);
      tables.approvalLikelihood[row] = band.approval_likelihood * share;
      tables.expectedRevenueMicros[row] = expectedRevenueMicros(offer, bandName, vertical);
      for (const months of offer.term_months) {
        const { min, max, feePercent } = termPrice(band, months);
        const slot = row * termMonths.length + termMonths.indexOf(months);
        const aprMaxPercent = memoizedApr(max, feePercent, months);
        tables.aprMin[slot] = roundHalfUp(memoizedApr(min, feePercent, months) * 100, 0);
        tables.aprMax[slot] = roundHalfUp(aprMaxPercent * 100, 0);
        tables.aprMaxPercent[slot] = aprMaxPercent;
        tables.paymentFactor[slot] = paymentFactor((min + max) / 2, months);
      }
    }
  }
  return tables;
}

/** Returns the expected revenue of a click (docs/contract.md#click-revenue): payout x P(confirmed | click), or the payout of a click. */
function expectedRevenueMicros(offer: LoanOffer, bandName: string, vertical: Vertical): number {
  const payoutMicros = usdToMicros(offer.payout_usd);
  if (offerPayoutModel(offer, vertical) === 'cost_per_click') return payoutMicros;
  return Math.round(payoutMicros * offer.bands[bandName]!.confirm_rate!);
}

/** Returns a memoized `aprPercent`. Many offers share rates, fees and terms, so each combination is solved only once. */
function memoizeApr(): typeof aprPercent {
  const aprs = new Map<string, number>();
  return (noteRatePercent, feePercent, months) => {
    const key = `${noteRatePercent}/${feePercent}/${months}`;
    let apr = aprs.get(key);
    if (apr === undefined) {
      apr = aprPercent(noteRatePercent, feePercent, months);
      aprs.set(key, apr);
    }
    return apr;
  };
}
