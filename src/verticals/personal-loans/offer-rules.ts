import { bounds } from '../../bounds.ts';
import type { FieldRule } from '../../matching/match-tables.ts';
import type { PocketField, Vertical } from '../vertical.ts';
import type { LoanBand, LoanCatalog, LoanLender, LoanOffer } from './offer-schema.ts';

/** What an offer pays for: its own word, or else what its vertical is paid for (docs/contract.md#click-revenue). */
export function offerPayoutModel(offer: LoanOffer, vertical: Vertical): Vertical['revenueModel'] {
  return offer.payout_model ?? vertical.revenueModel;
}

/**
 * The share of a credit band's scores that an offer takes: 1 without a least score, 0 where the whole band lies below it.
 * Nothing is known of a borrower's place inside a band, so each of its scores counts the same.
 */
export function servedScoreShare(
  { min_credit_score: least }: LoanOffer,
  { creditScores }: Vertical,
  band: number,
): number {
  const scores = creditScores?.[band];
  if (least === undefined || scores === undefined) return 1;
  const { min, max } = scores;
  return Math.max(0, max - Math.max(min, least) + 1) / (max - min + 1);
}

/** What a band asks for at one term, in percent: the rates of the term where it has some, else those of the band. */
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
 * What holds in each state. Most offers follow the rules of the catalog alone, and those of a lender often share theirs, so
 * offers point at sets of rules: set 0 is the catalog's, the others are the catalog's with those of a lender and an offer.
 */
export interface StateRuleTables {
  readonly stateCount: number;
  /** By set and state: highest APR shown there, in percent. */
  readonly stateAprCap: Float64Array;
  /** By set and state: least amount of a loan there, in USD. */
  readonly stateAmountMin: Float64Array;
  /** By offer: its set. */
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
    // Of several rules the strictest holds.
    stateAprCap: Float64Array.from(perState, (rules) =>
      Math.min(everywhere, ...rules.map(({ max_apr_percent }) => max_apr_percent ?? everywhere)),
    ),
    stateAmountMin: Float64Array.from(perState, (rules) => Math.max(...rules.map(({ min_amount }) => min_amount ?? 0))),
    stateRuleSet,
  };
}
