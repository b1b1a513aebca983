import { roundHalfUp } from '../../domain/money.ts';
import { absentValue, type FieldVector } from '../field-vector.ts';
import type { LoanTables } from './loan-tables.ts';

/** The unit in which tables keep the share of income that debt may take: four decimals of a percent. */
export const debtShareScale = 1_000_000;

/** What the room for a payment is counted in: so many to the dollar that shares of a monthly income are whole numbers. */
export const paymentUnitsPerUsd = 12 * debtShareScale;

/**
 * What a debt-to-income limit leaves for the monthly payment of a loan, in `paymentUnitsPerUsd`; negative where the debts alone are
 * above it. `share` is in `debtShareScale`, `annualIncome` and `monthlyDebt` are in whole USD.
 *
 * The limit is exact: all three are whole numbers, and so is what they leave. 57 % of 60,000 USD a year are 2,850 a month and no
 * hair less. A payment is the amount times a factor that a double holds only nearly, and is compared unrounded, not by the
 * cents it is answered in. What is equal on paper fits, so the room is given a few units in the last place more (as in
 * `roundHalfUp`): a millionth of a cent decides against the borrower, the last bits of a double never do.
 */
export function maxMonthlyPayment(share: number, annualIncome: number, monthlyDebt: number): number {
  return (share * annualIncome - paymentUnitsPerUsd * monthlyDebt) * (1 + 4 * Number.EPSILON);
}

/** All that price and rank know of a borrower: what is not here, no price or rank can depend on (docs/contract.md#fairness). */
export interface Applicant {
  /** Asked for, in USD. */
  amount: number;
  /** Index of the credit band. */
  creditBand: number;
  /** Index into the terms of the catalog; -1 when none was asked for, or none of the catalog's. */
  termIndex: number;
  /** Asked for, in months; `absent` when no term was. */
  termMonths: number;
  /** Gross, in whole USD a year; negative when not known. */
  annualIncome: number;
  /** Running debt payments in whole USD a month; negative when not known. */
  monthlyDebt: number;
  /** Index of the state, by which the rules of that state apply. */
  state: number;
}

/** What one offer comes to for one applicant. */
export interface OfferPrice {
  /** The terms open to the applicant for the amount asked for, as bits in the order of the catalog's terms. */
  openTerms: number;
  /** Index of the term quoted, and its slot in the tables. */
  termIndex: number;
  slot: number;
  /** The amounts the applicant can get, in USD, at one term or another. */
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

/** Reads the borrower's part in pricing into `applicant`; false when amount, credit band or state is absent: nothing can be priced. */
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
 * Prices one offer into `price`; false when it cannot be made to this applicant.
 *
 * A term is open when its highest APR stays within the cap on this offer in the state and, where the offer limits debt to
 * income, the payment on the amount asked for fits beside the debts already running. An offer with such a limit is not made
 * to an applicant whose income or debt is unknown: it is never guessed (docs/contract.md#eligibility).
 */
export function priceOffer(tables: LoanTables, offer: number, applicant: Applicant, price: OfferPrice): boolean {
  const { amount } = applicant;
  const row = offer * tables.bandCount + applicant.creditBand;
  const stateRule = tables.stateRuleSet[offer]! * tables.stateCount + applicant.state;
  const amountMin = Math.max(tables.amountMin[offer]!, tables.stateAmountMin[stateRule]!);
  let amountMax = tables.amountMax[row]!;
  if (amount < amountMin || amount > amountMax) return false;

  const share = tables.debtToIncomeMax[offer]!;
  let room = Number.POSITIVE_INFINITY;
  if (share !== Number.POSITIVE_INFINITY) {
    if (applicant.annualIncome < 0 || applicant.monthlyDebt < 0) return false;
    room = maxMonthlyPayment(share, applicant.annualIncome, applicant.monthlyDebt);
  }
  const amountUnits = amount * paymentUnitsPerUsd;

  const aprCapPercent = tables.stateAprCap[stateRule]!;
  const termCount = tables.termMonths.length;
  const firstSlot = row * termCount;
  let openTerms = 0;
  let leastFactor = Number.POSITIVE_INFINITY;
  for (let term = 0; term < termCount; term++) {
    if (tables.aprMaxPercent[firstSlot + term]! > aprCapPercent) continue;
    const factor = tables.paymentFactor[firstSlot + term]!;
    if (amountUnits * factor > room) continue;
    openTerms |= 1 << term;
    if (factor < leastFactor) leastFactor = factor;
  }
  if (openTerms === 0) return false;

  if (room !== Number.POSITIVE_INFINITY) {
    // The amount asked for fits, so a last bit lost in the division must not say otherwise.
    amountMax = Math.min(amountMax, Math.max(amount, Math.floor(room / (paymentUnitsPerUsd * leastFactor))));
  }
  price.openTerms = openTerms;
  price.termIndex = quotedTerm(tables, openTerms, applicant.termIndex);
  price.slot = firstSlot + price.termIndex;
  price.amountMin = amountMin;
  price.amountMax = amountMax;
  return true;
}

/** The monthly payment on the amount asked for, at the midpoint note rate over the term quoted, in whole cents. */
export function monthlyPaymentCents(tables: LoanTables, price: OfferPrice, amount: number): number {
  return roundHalfUp(amount * tables.paymentFactor[price.slot]! * 100, 0);
}

/** The term asked for if it is open, else the open one nearest to 36 months. */
function quotedTerm(tables: LoanTables, openTerms: number, wanted: number): number {
  if (wanted >= 0 && (openTerms & (1 << wanted)) !== 0) return wanted;
  for (const term of tables.termPreference) if ((openTerms & (1 << term)) !== 0) return term;
  return wanted;
}
