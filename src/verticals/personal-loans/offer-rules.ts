import { bounds } from '../../bounds.ts';
import type { FieldRule } from '../../matching/match-tables.ts';
import type { PocketField, Vertical } from '../vertical.ts';
import type { LoanBand, LoanCatalog, LoanLender, LoanOffer } from './offer-schema.ts';

/** Returns the payout model of an offer; the default is that of its vertical (docs/contract.md#click-revenue). */
export function offerPayoutModel(offer: LoanOffer, vertical: Vertical): Vertical['revenueModel'] {
  return offer.payout_model ?? vertical.revenueModel;
}

/**
 * Returns the share of a credit band's scores that an offer accepts: 1 if the offer has no minimum score, 0 if the whole band is below
 * the minimum. All scores of a band count as equally likely.
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

/** Returns the note rates and the origination fee of a band at one term, in percent. Prices of the term override those of the band. */
export function termPrice(band: LoanBand, months: number): { min: number; max: number; feePercent: number } {
  const own = band.terms?.[months];
  const { min, max } = own?.note_rate_percent ?? band.note_rate_percent;
  return { min, max, feePercent: own?.origination_fee_percent ?? band.origination_fee_percent };
}

/** Creates the rules that loans have on choice fields, besides the criteria of each offer. */
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

/** Whether an offer accepts a borrower with this co-borrower value; absent means none (docs/contract.md#eligibility). */
function acceptsCoBorrower({ joint_applications }: LoanOffer, value: unknown): boolean {
  if (joint_applications === 'required') return value === true;
  return joint_applications !== 'not_accepted' || value !== true;
}

/**
 * Rules by state. Many offers share the same rules, so each offer refers to a numbered set of rules. Set 0 has the rules of the
 * catalog. Each other set combines the rules of the catalog, of a lender and of an offer.
 */
export interface StateRuleTables {
  readonly stateCount: number;
  /** APR cap by rule set and state, in percent. */
  readonly stateAprCap: Float64Array;
  /** Minimum amount by rule set and state, in USD. */
  readonly stateAmountMin: Float64Array;
  /** Number of the rule set of each offer. */
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
    // If several rules apply to a state, the strictest one takes effect.
    stateAprCap: Float64Array.from(perState, (rules) =>
      Math.min(everywhere, ...rules.map(({ max_apr_percent }) => max_apr_percent ?? everywhere)),
    ),
    stateAmountMin: Float64Array.from(perState, (rules) => Math.max(...rules.map(({ min_amount }) => min_amount ?? 0))),
    stateRuleSet,
  };
}
