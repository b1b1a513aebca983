import { bounds } from '../../bounds.ts';
import { findFieldIndex, getChoiceValues } from '../../domain/field-vector.ts';
import { getOrAdd } from '../../domain/get-or-add.ts';
import { roundHalfUp, usdToMicros } from '../../domain/money.ts';
import type { PocketField, Vertical } from '../../domain/vertical.ts';
import {
  type ChoiceFieldRule,
  compileCommonTables,
  listOffersSortedById,
  type MatchTables,
  rowOf,
} from '../../matching/match-tables.ts';
import { computeAprPercent, monthlyPaymentPerDollar } from '../common/loan-math.ts';
import {
  computeAcceptedScoreShare,
  type LoanCatalog,
  type LoanCreditBand,
  type LoanLender,
  type LoanOffer,
  priceAtTerm,
  resolvePayoutModel,
} from './offer-schema.ts';
import { computeFixedScore } from './recommendation-score.ts';

/** Value in `LoanTables.debtToIncomeMax` for a debt-to-income limit of 100 %. Debt-to-income limits are stored in millionths. */
export const debtToIncomeScale = 1_000_000;

/**
 * Tables that only loan catalogs have. A *slot* is the price of an offer for a credit band and a term. The slots of a row are adjacent, in
 * the order of `termMonths`; rows are in the order of `MatchTables`.
 */
export interface LoanTables extends MatchTables, UsStateRules, SlotTables {
  /**
   * All loan terms in the catalog, in months: nearest to 36 months first, and the shorter of two terms at the same distance first. A set of
   * terms is stored as a number with one bit per element of `termMonths`.
   */
  readonly termMonths: readonly number[];
  readonly roles: LoanRoleIndexes;

  /** Minimum loan amount of each offer, in USD. */
  readonly amountMin: Float64Array;
  /** Maximum debt-to-income ratio of each offer, including the new loan, in millionths; infinite if the offer has no limit. */
  readonly debtToIncomeMax: Float64Array;

  /** Maximum loan amount by row, in USD; 0 if the offer does not serve the credit band. */
  readonly amountMax: Float64Array;
  /** Likelihood of an approval by row. */
  readonly approvalLikelihood: Float64Array;
  /** First slot of each row, followed by the number of all slots. A row without slots is an offer that does not serve the credit band. */
  readonly firstSlot: Uint32Array;
}

/** Prices by slot. */
interface SlotTables {
  /** Index of the term in `LoanTables.termMonths`. */
  readonly slotTerm: Uint8Array;
  /** Lower and upper end of the displayed APR range, in hundredths of a percent. */
  readonly aprMin: Uint16Array;
  readonly aprMax: Uint16Array;
  /** Unrounded upper end of the APR range, in percent. */
  readonly aprMaxPercent: Float64Array;
  /** Monthly payment per dollar of principal, at the midpoint of the note rate range. */
  readonly paymentFactor: Float64Array;
  /** Part of the `recommended` score that does not depend on the borrower's amount and requested term (`computeFixedScore`). */
  readonly fixedScore: Uint32Array;
}

/** Position of each role's field, such as the loan amount, in a borrower's field vector; -1 if the vertical has no such field. */
type LoanRoleIndexes = MatchTables['roles'] &
  Readonly<Record<'amount' | 'creditBand' | 'annualIncome' | 'term' | 'monthlyDebt', number>>;

/** Lists the slots of a row. */
export function listSlots({ firstSlot }: LoanTables, row: number): number[] {
  const first = firstSlot[row]!;
  return Array.from({ length: firstSlot[row + 1]! - first }, (_, at) => first + at);
}

/** Compiles a catalog that `parseCatalog` accepted for this vertical. */
export function compileLoanTables(catalog: LoanCatalog, vertical: Vertical): LoanTables {
  const numbered = listOffersSortedById<LoanCatalog['lenders'][number]>(catalog);
  const offers = numbered.map(({ offer }) => offer);
  const { roles } = vertical;
  const bands = getChoiceValues(vertical, roles.creditBand);
  const states = getChoiceValues(vertical, roles.state);
  const termMonths = [...new Set(offers.flatMap((offer) => offer.term_months))].sort(
    (one, other) => Math.abs(one - 36) - Math.abs(other - 36) || one - other,
  );
  const rows = offers.length * bands.length;
  const common = compileCommonTables(offers, catalog.state_rules, vertical, loanFieldRules(offers, vertical));
  const tables = {
    ...common,
    termMonths,
    roles: {
      ...common.roles,
      amount: findFieldIndex(vertical, roles.amount),
      creditBand: findFieldIndex(vertical, roles.creditBand),
      annualIncome: findFieldIndex(vertical, roles.annualIncome),
      term: findFieldIndex(vertical, roles.term),
      monthlyDebt: findFieldIndex(vertical, roles.monthlyDebt),
    },
    ...compileStateRules(catalog, numbered, states),
    amountMin: Float64Array.from(offers, ({ amount }) => amount.min),
    debtToIncomeMax: Float64Array.from(offers, ({ max_debt_to_income_percent: percent }) =>
      percent === undefined ? Number.POSITIVE_INFINITY : Math.round((percent * debtToIncomeScale) / 100),
    ),
    amountMax: new Float64Array(rows),
    approvalLikelihood: new Float64Array(rows),
    firstSlot: new Uint32Array(rows + 1),
  };
  const slots: Slot[] = [];
  const memoizedApr = memoizeApr();
  for (const [bandIndex, bandName] of bands.entries()) {
    for (const [index, offer] of offers.entries()) {
      const row = rowOf(tables, index, bandIndex);
      const band = offer.bands[bandName];
      const share = computeAcceptedScoreShare(offer, vertical, bandIndex);
      if (band !== undefined && share > 0) {
        tables.amountMax[row] = Math.min(offer.amount.max, band.max_amount);
        tables.approvalLikelihood[row] = band.approval_likelihood * share;
        tables.expectedRevenueMicros[row] = expectedRevenueMicros(offer, bandName, vertical);
        for (const [term, months] of termMonths.entries()) {
          if (!offer.term_months.includes(months)) continue;
          slots.push(priceSlot(term, months, band, tables.approvalLikelihood[row]!, offer.stars, memoizedApr));
        }
      }
      tables.firstSlot[row + 1] = slots.length;
    }
  }
  return { ...tables, ...compileSlotTables(slots) };
}

type Slot = Readonly<Record<keyof SlotTables, number>>;

function priceSlot(
  term: number,
  months: number,
  band: LoanCreditBand,
  approvalLikelihood: number,
  stars: number,
  computeApr: typeof computeAprPercent,
): Slot {
  const { min, max, feePercent } = priceAtTerm(band, months);
  const aprMaxPercent = computeApr(max, feePercent, months);
  const aprMin = roundHalfUp(computeApr(min, feePercent, months) * 100, 0);
  const aprMax = roundHalfUp(aprMaxPercent * 100, 0);
  return {
    slotTerm: term,
    aprMin,
    aprMax,
    aprMaxPercent,
    paymentFactor: monthlyPaymentPerDollar((min + max) / 2, months),
    fixedScore: computeFixedScore(aprMin + aprMax, approvalLikelihood, stars),
  };
}

function compileSlotTables(slots: readonly Slot[]): SlotTables {
  return {
    slotTerm: Uint8Array.from(slots, ({ slotTerm }) => slotTerm),
    aprMin: Uint16Array.from(slots, ({ aprMin }) => aprMin),
    aprMax: Uint16Array.from(slots, ({ aprMax }) => aprMax),
    aprMaxPercent: Float64Array.from(slots, ({ aprMaxPercent }) => aprMaxPercent),
    paymentFactor: Float64Array.from(slots, ({ paymentFactor }) => paymentFactor),
    fixedScore: Uint32Array.from(slots, ({ fixedScore }) => fixedScore),
  };
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
    return getOrAdd(aprs, key, () => computeAprPercent(noteRatePercent, feePercent, months));
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
    return getOrAdd(numberOfSet, name, () => sets.push([catalog.state_rules, ...own]) - 1);
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
