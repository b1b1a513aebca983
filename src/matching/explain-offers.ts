import { setImmediate } from 'node:timers/promises';
import { bounds } from '../bounds.ts';
import { completedYears } from '../domain/calendar.ts';
import { absentValue, type FieldVector } from '../verticals/field-vector.ts';
import {
  type Applicant,
  emptyApplicant,
  maxMonthlyPayment,
  paymentUnitsPerUsd,
  readApplicant,
} from '../verticals/personal-loans/price-offer.ts';
import type { Vertical } from '../verticals/vertical.ts';
import { meetsAgeOfContract } from './eligibility.ts';
import type { MatchTables } from './match-tables.ts';
import { hasOffer } from './offer-set.ts';

/** Why an offer is not made to a borrower, in the words of the API (docs/api.md). */
export const mismatchReasons = [
  'not_told',
  'not_accepted',
  'amount_too_low',
  'amount_too_high',
  'amount_too_low_in_state',
  'apr_above_cap',
  'debt_to_income',
  'daily_cap',
] as const;
export type MismatchReason = (typeof mismatchReasons)[number];

/** One reason and the pocket field it is about; null where no field would change it. */
export interface MismatchCount {
  readonly reason: MismatchReason;
  readonly field: string | null;
  /** The offers it keeps away, alone or with others. */
  readonly offers: number;
  /** Those that nothing else is known to keep away. */
  readonly alone: number;
}

/** What became of every offer of a catalog for one borrower, as answered: `offers_in_catalog` = `matched` + `not_matched`. */
export interface Explanation {
  readonly offers_in_catalog: number;
  readonly matched: number;
  readonly not_matched: number;
  /** Those that keep most offers away first; then in the order of reason and field. An offer counts under each that applies. */
  readonly reasons: readonly MismatchCount[];
}

/**
 * Goes through all offers of a catalog, one by one, and says what keeps each from this borrower: the rules of `rankOffers`
 * once more, slow and in words. Every few hundred offers the event loop gets its turn, so that nobody waits for this.
 *
 * The borrower's vector is read until the end and must not change meanwhile.
 */
export async function explainOffers(
  tables: MatchTables,
  vertical: Vertical,
  borrower: Readonly<FieldVector>,
  today: number,
  /** Offers at their daily cap, a bit each (`UnavailableOffers`); null: none. */
  closed: Int32Array | null = null,
): Promise<Explanation> {
  const applicant = emptyApplicant();
  const priced = readApplicant(tables, borrower, applicant);
  const tally = new Map<string, { reason: MismatchReason; field: string | null; offers: number; alone: number }>();
  const ofAge = meetsAgeOfContract(tables, borrower, today);
  let matched = 0;
  for (let offer = 0; offer < tables.offerCount; offer++) {
    if (offer > 0 && offer % bounds.explainedOffersPerTurn === 0) await setImmediate();
    const against = new Mismatches(vertical);
    checkFields(tables, offer, borrower, today, against);
    if (!ofAge) against.add('not_accepted', tables.roles.birthdate);
    if (priced) checkPrice(tables, offer, applicant, against);
    else checkPricingFields(tables, borrower, against);
    if (closed !== null && hasOffer(closed, offer)) against.add('daily_cap', -1);
    if (against.byReasonAndField.size === 0) matched++;
    for (const [key, { reason, field }] of against.byReasonAndField) {
      let count = tally.get(key);
      if (count === undefined) {
        count = { reason, field, offers: 0, alone: 0 };
        tally.set(key, count);
      }
      count.offers++;
      if (against.byReasonAndField.size === 1) count.alone++;
    }
  }
  const keys = [...tally.keys()].sort(
    (one, other) => tally.get(other)!.offers - tally.get(one)!.offers || (one < other ? -1 : 1),
  );
  return {
    offers_in_catalog: tables.offerCount,
    matched,
    not_matched: tables.offerCount - matched,
    reasons: keys.map((key) => tally.get(key)!),
  };
}

/** What keeps one offer away, each reason and field once however often it applies. */
class Mismatches {
  readonly byReasonAndField = new Map<string, { readonly reason: MismatchReason; readonly field: string | null }>();
  readonly #vertical: Vertical;

  constructor(vertical: Vertical) {
    this.#vertical = vertical;
  }

  /** A position of -1 is no field's. */
  add(reason: MismatchReason, position: number): void {
    const field = position < 0 ? null : this.#vertical.fields[position]!.name;
    this.byReasonAndField.set(`${reason} ${field}`, { reason, field });
  }
}

/** What the lender asks of a field and the borrower does not meet, or has not told: it is never guessed (docs/contract.md#eligibility). */
function checkFields(
  tables: MatchTables,
  offer: number,
  borrower: Readonly<FieldVector>,
  today: number,
  against: Mismatches,
): void {
  const judge = (field: number, asked: boolean, met: boolean) => {
    if (asked && borrower[field] === absentValue) against.add('not_told', field);
    else if (!met) against.add('not_accepted', field);
  };
  for (const { field, allowed } of tables.choiceFilters) {
    const admits = (value: number) => hasOffer(allowed.get(value)!, offer);
    judge(field, !admits(absentValue), admits(borrower[field]!));
  }
  for (const { field, min, max } of tables.rangeFilters) {
    const value = borrower[field]!;
    judge(field, min[offer]! > absentValue, value >= min[offer]! && value <= max[offer]!);
  }
  for (const { field, minYears } of tables.ageFilters) {
    const years = minYears[offer]!;
    judge(field, years > 0, years === 0 || completedYears(borrower[field]!, today) >= years);
  }
}

/** Without an amount, a credit band and a state no offer can be priced. */
function checkPricingFields({ roles }: MatchTables, borrower: Readonly<FieldVector>, against: Mismatches): void {
  for (const field of [roles.amount, roles.creditBand, roles.state]) {
    if (borrower[field] === absentValue) against.add('not_told', field);
  }
}

/** The rules of `priceOffer`, each judged by itself. What a band that is not served would cost is not known, so no reason. */
function checkPrice(tables: MatchTables, offer: number, applicant: Applicant, against: Mismatches): void {
  const { roles } = tables;
  const { amount } = applicant;
  if (amount < tables.amountMin[offer]!) against.add('amount_too_low', roles.amount);
  const stateRule = tables.stateRuleSet[offer]! * tables.stateCount + applicant.state;
  if (amount < tables.stateAmountMin[stateRule]!) against.add('amount_too_low_in_state', roles.state);
  const { annualIncome, monthlyDebt } = applicant;
  const share = tables.debtToIncomeMax[offer]!;
  const limited = share !== Number.POSITIVE_INFINITY;
  if (limited && annualIncome < 0) against.add('not_told', roles.annualIncome);
  if (limited && monthlyDebt < 0) against.add('not_told', roles.monthlyDebt);

  const row = offer * tables.bandCount + applicant.creditBand;
  const amountMax = tables.amountMax[row]!;
  if (amountMax === 0) return;
  if (amount > amountMax) against.add('amount_too_high', roles.amount);

  const slots = tables.termMonths.map((_months, term) => row * tables.termMonths.length + term);
  const offered = slots.filter((slot) => tables.aprMaxPercent[slot] !== Number.POSITIVE_INFINITY);
  const withinCap = offered.filter((slot) => tables.aprMaxPercent[slot]! <= tables.stateAprCap[stateRule]!);
  if (withinCap.length === 0) against.add('apr_above_cap', roles.state);
  if (!limited || annualIncome < 0 || monthlyDebt < 0) return;
  const room = maxMonthlyPayment(share, annualIncome, monthlyDebt);
  const affordable = (withinCap.length === 0 ? offered : withinCap).some(
    (slot) => amount * paymentUnitsPerUsd * tables.paymentFactor[slot]! <= room,
  );
  if (!affordable) against.add('debt_to_income', roles.monthlyDebt);
}
