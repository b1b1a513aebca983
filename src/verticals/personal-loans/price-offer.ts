import { roundHalfUp } from '../../domain/money.ts';
import { absentValue, type FieldVector } from '../field-vector.ts';
import type { LoanTables } from './loan-tables.ts';

/** `debtToIncomeMax` of the tables is a share of income times this: four decimals of a percent. */
export const debtShareScale = 1_000_000;

/** Units of a payment for each US dollar, chosen so that shares of a monthly income are integers. */
export const paymentUnitsPerUsd = 12 * debtShareScale;

/**
 * Returns the largest monthly payment that a debt-to-income limit allows, in `paymentUnitsPerUsd`; negative if the debts alone exceed
 * the limit. `share` is in `debtShareScale`, `annualIncome` and `monthlyDebt` are in whole USD.
 *
 * All three are integers, so the limit is exact: 57 % of 60,000 USD a year is 2,850 USD a month. A payment, which is compared
 * unrounded, has rounding errors in the last bits of a double. The result is therefore raised by a few units in the last place (as in
 * `roundHalfUp`), so that a payment equal to the limit is allowed.
 */
export function maxMonthlyPayment(share: number, annualIncome: number, monthlyDebt: number): number {
  return (share * annualIncome - paymentUnitsPerUsd * monthlyDebt) * (1 + 4 * Number.EPSILON);
}

/** All properties of a borrower that prices and ranks depend on (docs/contract.md#fairness). */
export interface Applicant {
  /** Requested amount, in USD. */
  amount: number;
  /** Index of the credit band. */
  creditBand: number;
  /** Index of the requested term in the terms of the catalog; -1 if none was requested or the catalog does not have it. */
  termIndex: number;
  /** Requested term, in months; `absentValue` for none. */
  termMonths: number;
  /** Gross, in whole USD a year; negative if not known. */
  annualIncome: number;
  /** Payments on existing debt, in whole USD a month; negative if not known. */
  monthlyDebt: number;
  /** Index of the state. */
  state: number;
}

/** Terms and amounts of one offer for one applicant. */
export interface OfferPrice {
  /** Terms open to the applicant for the requested amount, as bits in the order of the catalog's terms. */
  openTerms: number;
  /** Index of the quoted term, and its slot in the tables. */
  termIndex: number;
  slot: number;
  /** Amounts that the applicant can get at any open term, in USD. */
  amountMin: number;
  amountMax: number;
}

export function emptyApplicant(): Applicant {
  return {
    amount: 0,
    creditBand: 0,
    termIndex: 0,
    termMonths: 0,
    annualIncome: 0,
    monthlyDebt: 0,
    state: 0,
  };
}

export function emptyOfferPrice(): OfferPrice {
  return { openTerms: 0, termIndex: 0, slot: 0, amountMin: 0, amountMax: 0 };
}

/** Reads a borrower into `applicant`. Returns false if amount, credit band or state is absent, so that nothing can be priced. */
export function readApplicant(tables: LoanTables, borrower: Readonly<FieldVector>, applicant: Applicant): boolean {
  const { roles } = tables;
  const amount = borrower[roles.amount]!;
  const creditBand = borrower[roles.creditBand]!;
  const state = borrower[roles.state]!;
  if (amount === absentValue || creditBand === absentValue || state === absentValue) return false;
  applicant.amount = amount;
  applicant.creditBand = creditBand;
  applicant.termMonths = roles.term < 0 ? absentValue : borrower[roles.term]!;
  applicant.termIndex = applicant.termMonths === absentValue ? -1 : tables.termMonths.indexOf(applicant.termMonths);
  applicant.annualIncome = borrower[roles.annualIncome]!;
  applicant.monthlyDebt = roles.monthlyDebt < 0 ? -1 : borrower[roles.monthlyDebt]!;
  applicant.state = state;
  return true;
}

/**
 * Prices an offer into `price`. Returns false if the applicant cannot get it.
 *
 * A term is open if its highest APR is within the cap of the state and if, for an offer with a debt-to-income limit, the payment on
 * the requested amount and the existing debts are within that limit. An applicant with unknown income or debt cannot get an offer with
 * such a limit (docs/contract.md#eligibility).
 */
export function priceOffer(tables: LoanTables, offer: number, applicant: Applicant, price: OfferPrice): boolean {
  const { amount } = applicant;
  const row = offer * tables.bandCount + applicant.creditBand;
  const stateRule = tables.stateRuleSet[offer]! * tables.stateCount + applicant.state;
  const amountMin = Math.max(tables.amountMin[offer]!, tables.stateAmountMin[stateRule]!);
  let amountMax = tables.amountMax[row]!;
  if (amount < amountMin || amount > amountMax) return false;

  const share = tables.debtToIncomeMax[offer]!;
  let paymentMax = Number.POSITIVE_INFINITY;
  if (share !== Number.POSITIVE_INFINITY) {
    if (applicant.annualIncome < 0 || applicant.monthlyDebt < 0) return false;
    paymentMax = maxMonthlyPayment(share, applicant.annualIncome, applicant.monthlyDebt);
  }
  const amountUnits = amount * paymentUnitsPerUsd;

  const aprCapPercent = tables.stateAprCap[stateRule]!;
  const termCount = tables.termMonths.length;
  const firstSlot = row * termCount;
  let openTerms = 0;
  let minFactor = Number.POSITIVE_INFINITY;
  for (let term = 0; term < termCount; term++) {
    if (tables.aprMaxPercent[firstSlot + term]! > aprCapPercent) continue;
    const factor = tables.paymentFactor[firstSlot + term]!;
    if (amountUnits * factor > paymentMax) continue;
    openTerms |= 1 << term;
    if (factor < minFactor) minFactor = factor;
  }
  if (openTerms === 0) return false;

  if (paymentMax !== Number.POSITIVE_INFINITY) {
    // The requested amount is within the limit, whatever the division rounds to.
    amountMax = Math.min(amountMax, Math.max(amount, Math.floor(paymentMax / (paymentUnitsPerUsd * minFactor))));
  }
  price.openTerms = openTerms;
  price.termIndex = quotedTerm(tables, openTerms, applicant.termIndex);
  price.slot = firstSlot + price.termIndex;
  price.amountMin = amountMin;
  price.amountMax = amountMax;
  return true;
}

/** The monthly payment on `amount` USD at the midpoint note rate over the quoted term, in whole cents. */
export function monthlyPaymentCents(tables: LoanTables, price: OfferPrice, amount: number): number {
  return roundHalfUp(amount * tables.paymentFactor[price.slot]! * 100, 0);
}

/** The requested term if it is open, else the open term nearest to 36 months. */
function quotedTerm(tables: LoanTables, openTerms: number, requested: number): number {
  if (requested >= 0 && (openTerms & (1 << requested)) !== 0) return requested;
  for (const term of tables.termPreference) if ((openTerms & (1 << term)) !== 0) return term;
  return requested;
}
