import { bounds } from '../../bounds.ts';
import type {
  CatalogBand,
  CatalogCriterion,
  CatalogFile,
  CatalogLender,
  CatalogOffer,
} from '../../catalogs/catalog-schema.ts';
import { choiceValues } from '../field-vector.ts';
import type { PocketField, Vertical } from '../vertical.ts';

/** What an offer pays for: its own word, or else what its vertical is paid for (docs/contract.md#click-revenue). */
export function offerPayoutModel(offer: CatalogOffer, vertical: Vertical): Vertical['revenueModel'] {
  return offer.payout_model ?? vertical.revenueModel;
}

/**
 * The share of a credit band's scores that an offer takes: 1 without a least score, 0 where the whole band lies below it.
 * Nothing is known of a borrower's place inside a band, so each of its scores counts the same.
 */
export function servedScoreShare(
  { min_credit_score: least }: CatalogOffer,
  { creditScores }: Vertical,
  band: number,
): number {
  const scores = creditScores?.[band];
  if (least === undefined || scores === undefined) return 1;
  const { min, max } = scores;
  return Math.max(0, max - Math.max(min, least) + 1) / (max - min + 1);
}

/** What a band asks for at one term, in percent: the rates of the term where it has some, else those of the band. */
export function termPrice(band: CatalogBand, months: number): { min: number; max: number; feePercent: number } {
  const own = band.terms?.[months];
  const { min, max } = own?.note_rate_percent ?? band.note_rate_percent;
  return { min, max, feePercent: own?.origination_fee_percent ?? band.origination_fee_percent };
}

/**
 * Whether an offer can be made to borrowers with this value of a field of few values; `undefined` is one who has not told it.
 * A criterion on a field that was not told is not met, whatever it asks for (docs/contract.md#eligibility).
 */
export function admitsValue(offer: CatalogOffer, field: PocketField, value: unknown, vertical: Vertical): boolean {
  const { creditBand, coBorrower } = vertical.roles;
  if (field.name === creditBand && value !== undefined && !servesBand(offer, value as string, field, vertical))
    return false;
  if (field.name === coBorrower && !acceptsCoBorrower(offer, value)) return false;
  return offer.criteria.every(
    (criterion) => criterion.field !== field.name || (value !== undefined && criterionIncludes(criterion, value)),
  );
}

function servesBand(offer: CatalogOffer, band: string, field: PocketField, vertical: Vertical): boolean {
  if (offer.bands[band] === undefined || field.kind !== 'choice') return false;
  return servedScoreShare(offer, vertical, field.values.indexOf(band)) > 0;
}

/** Without a value the borrower applies alone: only `true` unlocks a joint offer or closes a single one (docs/contract.md#eligibility). */
function acceptsCoBorrower({ joint_applications }: CatalogOffer, value: unknown): boolean {
  if (joint_applications === 'required') return value === true;
  return joint_applications !== 'not_accepted' || value !== true;
}

function criterionIncludes(criterion: CatalogCriterion, value: unknown): boolean {
  return (criterion.in?.includes(value) ?? true) && !(criterion.not_in?.includes(value) ?? false);
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
  /** By state: age of contract in completed years; 0 where the catalog names none. */
  readonly stateAgeMin: Uint8Array;
  /** By offer: its set. */
  readonly stateRuleSet: Uint16Array;
}

export function compileStateRules(
  catalog: CatalogFile,
  numbered: readonly { readonly lender: CatalogLender; readonly offer: CatalogOffer }[],
  vertical: Vertical,
): StateRuleTables {
  const states = choiceValues(vertical, vertical.roles.state);
  const sets: Pick<CatalogFile, 'state_rules'>['state_rules'][][] = [[catalog.state_rules]];
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
    stateAgeMin: Uint8Array.from(states, (state) => catalog.state_rules[state]?.min_age ?? 0),
    stateRuleSet,
  };
}
