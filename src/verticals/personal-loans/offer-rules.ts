import { bounds } from '../../bounds.ts';
import type { FieldRule } from '../../matching/match-tables.ts';
import type { PocketField, Vertical } from '../vertical.ts';
import type { LoanBand, LoanCatalog, LoanLender, LoanOffer } from './offer-schema.ts';

/** The payout model of an offer: its own or else that of its vertical (docs/contract.md#click-revenue). */
export function offerPayoutModel(offer: LoanOffer, vertical: Vertical): Vertical['revenueModel'] {
  return offer.payout_model ?? vertical.revenueModel;
}

/**
 * The share of a credit band's scores that an offer accepts: 1 without a minimum score, 0 if the whole band is below it. All scores of
 * a band count as equally likely.
 */
export function servedScoreShare(
  { min_credit_score: minScore }: LoanOffer,
  { creditScores }: Vertical,
  band: number,
): number {
  const scores = creditScores?.[band];
  if (minScore === undefined || scores === undefined) return 1;
  const { min, max } = scores;
  return Math.max(0, max - Math.max(min, minScore) + 1) / (max - min + 1);
}

/** Note rates and origination fee of a band at one term, in percent: those of the term, or else of the band. */
export function termPrice(band: LoanBand, months: number): { min: number; max: number; feePercent: number } {
  const own = band.terms?.[months];
  const { min, max } = own?.note_rate_percent ?? band.note_rate_percent;
  return { min, max, feePercent: own?.origination_fee_percent ?? band.origination_fee_percent };
}

/** The rules of loans on choice fields, besides the criteria of their offers. */
export function loanFieldRules(offers: readonly LoanOffer[], vertical: Vertical): FieldRule<LoanOffer>[] {
  const { creditBand, coBorrower } = vertical.roles;
  const bandRule: FieldRule<LoanOffer> = {
    field: creditBand,
    admits: (offer, value, field) => value === undefined || servesBand(offer, value as string, field, vertical),
  };
  const hasJointRules = offers.some(({ joint_applications }) => joint_applications !== undefined);
  return hasJointRules ? [bandRule, { field: coBorrower, admits: acceptsCoBorrower }] : [bandRule];
}

function servesBand(offer: LoanOffer, band: string, field: PocketField, vertical: Vertical): boolean {
  if (offer.bands[band] === undefined || field.kind !== 'choice') return false;
  return servedScoreShare(offer, vertical, field.values.indexOf(band)) > 0;
}

/** A borrower without a value applies alone. Only `true` admits to joint offers and excludes from single ones (docs/contract.md#eligibility). */
function acceptsCoBorrower({ joint_applications }: LoanOffer, value: unknown): boolean {
  if (joint_applications === 'required') return value === true;
  return joint_applications !== 'not_accepted' || value !== true;
}

/**
 * Rules by state. Many offers share the same rules, so each offer refers to a set of rules: set 0 has the rules of the catalog, the
 * others have those of the catalog, a lender and an offer combined.
 */
export interface StateRuleTables {
  readonly stateCount: number;
  /** By set and state: APR cap, in percent. */
  readonly stateAprCap: Float64Array;
  /** By set and state: minimum amount, in USD. */
  readonly stateAmountMin: Float64Array;
  /** By offer: number of its set. */
  readonly stateRuleSet: Uint16Array;
}

export function compileStateRules(
  catalog: LoanCatalog,
  numbered: readonly { readonly lender: LoanLender; readonly offer: LoanOffer }[],
  states: readonly string[],
): StateRuleTables {
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
    // The strictest of several rules applies.
    stateAprCap: Float64Array.from(perState, (rules) =>
      Math.min(everywhere, ...rules.map(({ max_apr_percent }) => max_apr_percent ?? everywhere)),
    ),
    stateAmountMin: Float64Array.from(perState, (rules) => Math.max(...rules.map(({ min_amount }) => min_amount ?? 0))),
    stateRuleSet,
  };
}
