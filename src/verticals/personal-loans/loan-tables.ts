import { bounds } from '../../bounds.ts';
import { defaultProductName } from '../../catalogs/product.ts';
import { findFieldIndex, getChoiceValues } from '../../domain/field-vector.ts';
import { roundHalfUp, usdToMicros } from '../../domain/money.ts';
import type { PocketField, Vertical } from '../../domain/vertical.ts';
import {
  type ChoiceFieldRule,
  compileCommonTables,
  listOffersSortedById,
  type MatchTables,
} from '../../matching/match-tables.ts';
import { computeAprPercent, monthlyPaymentPerDollar } from '../common/loan-math.ts';
import {
  computeAcceptedScoreShare,
  type LoanCatalog,
  type LoanLender,
  type LoanOffer,
  priceAtTerm,
  resolvePayoutModel,
} from './offer-schema.ts';

/** Value in `LoanTables.debtToIncomeMax` for a debt-to-income limit of 100 %. Debt-to-income limits are stored in millionths. */
export const debtToIncomeScale = 1_000_000;

/**
 * Tables that only loan catalogs have. A *row* is a combination of offer and credit band. A *slot* is a combination of offer, credit band
 * and term.
 */
export interface LoanTables extends MatchTables, UsStateRules {
  /** All loan terms in the catalog, in months, ascending. A set of terms is stored as a number with one bit per element of `termMonths`. */
  readonly termMonths: readonly number[];
  /** Indexes of the terms that can replace an unavailable requested term, best first: nearest to 36 months, then shortest. */
  readonly termPreference: readonly number[];
  readonly roles: LoanRoleIndexes;

  /** Minimum loan amount of each offer, in USD. */
  readonly amountMin: Float64Array;
  /** Maximum debt-to-income ratio of each offer, including the new loan, in millionths; infinite if the offer has no limit. */
  readonly debtToIncomeMax: Float64Array;
  readonly stars: Float64Array;

  /** Maximum loan amount for each combination of offer and credit band, in USD; 0 if the offer does not serve the credit band. */
  readonly amountMax: Float64Array;
  readonly approvalLikelihood: Float64Array;

  /** Lower end of the displayed APR range for each combination of offer, credit band and term, in hundredths of a percent. */
  readonly aprMin: Uint16Array;
  /** Upper end of the displayed APR range, with the array indexes and the unit of `aprMin`. */
  readonly aprMax: Uint16Array;
  /** Unrounded upper end of the APR range, in percent, for each offer, credit band and term; `Infinity` if not available. */
  readonly aprMaxPercent: Float64Array;
  /** Monthly payment per dollar of principal for each offer, credit band and term, at the midpoint of the note rate range. */
  readonly paymentFactor: Float64Array;
}

/** Position of each role's field, such as the loan amount, in a borrower's field vector; -1 if the vertical has no such field. */
type LoanRoleIndexes = MatchTables['roles'] &
  Readonly<Record<'amount' | 'creditBand' | 'annualIncome' | 'term' | 'monthlyDebt', number>>;

/** Compiles a catalog that `parseCatalog` accepted for this vertical. */
export function compileLoanTables(catalog: LoanCatalog, vertical: Vertical): LoanTables {
  const numbered = listOffersSortedById<LoanCatalog['lenders'][number]>(catalog);
  const offers = numbered.map(({ offer }) => offer);
  const { roles } = vertical;
  const bands = getChoiceValues(vertical, roles.creditBand);
  const states = getChoiceValues(vertical, roles.state);
  const termMonths = [...new Set(offers.flatMap((offer) => offer.term_months))].sort((a, b) => a - b);
  const memoizedApr = memoizeApr();

  const rows = offers.length * bands.length;
  const slots = rows * termMonths.length;
  const common = compileCommonTables(
    { name: defaultProductName, bandCount: bands.length },
    offers,
    catalog.state_rules,
    vertical,
    loanFieldRules(offers, vertical),
  );
  const tables = {
    ...common,
    termMonths,
    termPreference: termMonths
      .map((months, term) => ({ distance: Math.abs(months - 36), term }))
      .sort((a, b) => a.distance - b.distance || a.term - b.term)
      .map(({ term }) => term),
    roles: {
      ...common.roles,
      amount: findFieldIndex(vertical, roles.amount),
      creditBand: findFieldIndex(vertical, roles.creditBand),
      annualIncome: findFieldIndex(vertical, roles.annualIncome),
      term: findFieldIndex(vertical, roles.term),
      monthlyDebt: findFieldIndex(vertical, roles.monthlyDebt),
    },
    ...compileStateRules(catalog, numbered, states),
    amountMin: new Float64Array(offers.length),
    debtToIncomeMax: new Float64Array(offers.length).fill(Number.POSITIVE_INFINITY),
    stars: new Float64Array(offers.length),
    amountMax: new Float64Array(rows),
    approvalLikelihood: new Float64Array(rows),
    aprMin: new Uint16Array(slots),
    aprMax: new Uint16Array(slots),
    aprMaxPercent: new Float64Array(slots).fill(Number.POSITIVE_INFINITY),
    paymentFactor: new Float64Array(slots),
  } satisfies LoanTables;

  for (const [index, offer] of offers.entries()) {
    tables.amountMin[index] = offer.amount.min;
    tables.stars[index] = offer.stars;
    if (offer.max_debt_to_income_percent !== undefined) {
      tables.debtToIncomeMax[index] = Math.round((offer.max_debt_to_income_percent * debtToIncomeScale) / 100);
    }
    for (const [bandName, band] of Object.entries(offer.bands)) {
      const bandIndex = bands.indexOf(bandName);
      const share = computeAcceptedScoreShare(offer, vertical, bandIndex);
      if (share === 0) continue;
      const row = index * bands.length + bandIndex;
      tables.amountMax[row] = Math.min(offer.amount.max, band.max_amount);
      tables.approvalLikelihood[row] = band.approval_likelihood * share;
      tables.expectedRevenueMicros[row] = expectedRevenueMicros(offer, bandName, vertical);
      for (const months of offer.term_months) {
        const { min, max, feePercent } = priceAtTerm(band, months);
        const slot = row * termMonths.length + termMonths.indexOf(months);
        const aprMaxPercent = memoizedApr(max, feePercent, months);
        tables.aprMin[slot] = roundHalfUp(memoizedApr(min, feePercent, months) * 100, 0);
        tables.aprMax[slot] = roundHalfUp(aprMaxPercent * 100, 0);
        tables.aprMaxPercent[slot] = aprMaxPercent;
        tables.paymentFactor[slot] = monthlyPaymentPerDollar((min + max) / 2, months);
      }
    }
  }
  return tables;
}

/** Returns the payout per click, or the payout per lead times the confirmation rate (docs/contract.md#click-revenue). */
function expectedRevenueMicros(offer: LoanOffer, bandName: string, vertical: Vertical): number {
  const payoutMicros = usdToMicros(offer.payout_usd);
  if (resolvePayoutModel(offer, vertical) === 'cost_per_click') return payoutMicros;
  return Math.round(payoutMicros * offer.bands[bandName]!.confirm_rate!);
}

/** Returns a memoized `computeAprPercent`, because computing an APR is slow, and many offers have equal rates, fees and terms. */
function memoizeApr(): typeof computeAprPercent {
  const aprs = new Map<string, number>();
  return (noteRatePercent, feePercent, months) => {
    const key = `${noteRatePercent}/${feePercent}/${months}`;
    let apr = aprs.get(key);
    if (apr === undefined) {
      apr = computeAprPercent(noteRatePercent, feePercent, months);
      aprs.set(key, apr);
    }
    return apr;
  };
}

/** Creates rules that apply in addition to the criteria of offers: one rule for the credit band, and one rule for joint applications. */
function loanFieldRules(offers: readonly LoanOffer[], vertical: Vertical): ChoiceFieldRule<LoanOffer>[] {
  const { creditBand, coBorrower } = vertical.roles;
  const bandRule: ChoiceFieldRule<LoanOffer> = {
    field: creditBand,
    admits: (offer, value, field) => value === undefined || servesBand(offer, value as string, field, vertical),
  };
  const hasJointRules = offers.some(({ joint_applications }) => joint_applications !== undefined);
  return hasJointRules ? [bandRule, { field: coBorrower, admits: acceptsCoBorrower }] : [bandRule];
}

function servesBand(offer: LoanOffer, band: string, field: PocketField, vertical: Vertical): boolean {
  if (offer.bands[band] === undefined || field.kind !== 'choice') return false;
  return computeAcceptedScoreShare(offer, vertical, field.values.indexOf(band)) > 0;
}

/** Whether an offer accepts the value of the co-borrower field. An absent value means no co-borrower (docs/contract.md#eligibility). */
function acceptsCoBorrower({ joint_applications }: LoanOffer, value: unknown): boolean {
  if (joint_applications === 'required') return value === true;
  return joint_applications !== 'not_accepted' || value !== true;
}

/**
 * Rule sets for US states. Many offers share a rule set, so each offer stores only the number of its rule set. Rule set 0 contains only the
 * rules of the catalog. Rule sets from number 1 on also contain rules of a lender, of an offer, or of both.
 */
interface UsStateRules {
  readonly stateCount: number;
  /** APR cap in percent for each rule set and US state, ordered by rule set number, then by state. */
  readonly stateAprCap: Float64Array;
  /** Minimum loan amount in USD for each rule set and US state, in the order of `stateAprCap`. */
  readonly stateAmountMin: Float64Array;
  /** Rule set number of each offer. */
  readonly stateRuleSet: Uint16Array;
}

function compileStateRules(
  catalog: LoanCatalog,
  numbered: readonly { readonly lender: LoanLender; readonly offer: LoanOffer }[],
  states: readonly string[],
): UsStateRules {
  const sets: LoanCatalog['state_rules'][][] = [[catalog.state_rules]];
  const numberOfSet = new Map([['', 0]]);
  const stateRuleSet = Uint16Array.from(numbered, ({ lender, offer }) => {
    const own = [lender.state_rules ?? {}, offer.state_rules ?? {}].filter((rules) => Object.keys(rules).length > 0);
    const name = own.map((rules) => JSON.stringify(rules)).join();
    let number = numberOfSet.get(name);
    if (number === undefined) {
      number = sets.push([catalog.state_rules, ...own]) - 1;
      numberOfSet.set(name, number);
    }
    return number;
  });
  const everywhere = Math.min(catalog.max_apr_percent, bounds.aprPercentMax);
  const perState = sets.flatMap((rules) => states.map((state) => rules.map((byState) => byState[state] ?? {})));
  return {
    stateCount: states.length,
    // If several rules apply to a state, the strictest rule takes effect.
    stateAprCap: Float64Array.from(perState, (rules) =>
      Math.min(everywhere, ...rules.map(({ max_apr_percent }) => max_apr_percent ?? everywhere)),
    ),
    stateAmountMin: Float64Array.from(perState, (rules) => Math.max(...rules.map(({ min_amount }) => min_amount ?? 0))),
    stateRuleSet,
  };
}
