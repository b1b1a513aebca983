import { absentValue, type FieldVector } from '../../domain/field-vector.ts';
import { roundHalfUp } from '../../domain/money.ts';
import { rowOf } from '../../matching/match-tables.ts';
import type { MismatchCallback } from '../../matching/product-ranking.ts';
import { debtToIncomeScale, type LoanTables, listSlots } from './loan-tables.ts';

/** Payment units per dollar. A payment unit is a twelfth of a millionth of a dollar, so that `maxMonthlyPayment` uses whole numbers. */
export const paymentUnitsPerUsd = 12 * debtToIncomeScale;

/**
 * Returns the largest monthly payment that a debt-to-income limit allows, in payment units (`paymentUnitsPerUsd`). Returns a negative
 * number if the existing debts alone exceed the limit. `share` is the debt-to-income limit in millionths; `annualIncome` and
 * `monthlyDebt` are in whole USD.
 *
 * `share`, `annualIncome` and `monthlyDebt` are integers, so the limit is computed exactly: 57 % of 60,000 USD a year is 2,850 USD a month.
 * The limit is multiplied by `1 + 4 * Number.EPSILON`, so that rounding errors cannot reject a payment that equals the limit.
 */
export function maxMonthlyPayment(share: number, annualIncome: number, monthlyDebt: number): number {
  return (share * annualIncome - paymentUnitsPerUsd * monthlyDebt) * (1 + 4 * Number.EPSILON);
}

/** Values of a borrower that determine prices and rankings (docs/contract.md#fairness). */
export interface Applicant {
  /** Requested amount in USD. */
  readonly amount: number;
  /** Index of the credit band among the values of its field. */
  readonly creditBand: number;
  /** Index of the requested term in `LoanTables.termMonths`; -1 if no term was requested or the catalog does not have the term. */
  readonly term: number;
  /** Requested term in months; `absentValue` if no term was requested. */
  readonly termMonths: number;
  /** Gross annual income in whole USD; negative if unknown. */
  readonly annualIncome: number;
  /** Monthly payments on existing debt in whole USD; negative if unknown. */
  readonly monthlyDebt: number;
  /** Index of the state of residence among the values of its field. */
  readonly state: number;
}

/** Available terms and amounts of one offer for one applicant, and the quoted term. */
export interface LoanPrice {
  /** Bit set of indexes in `LoanTables.termMonths`: the terms that the applicant can get for the requested amount. */
  openTerms: number;
  /** Slot of the quoted term: the requested term if it is available, otherwise the available term nearest to 36 months. */
  slot: number;
  /** Smallest and largest amount, in USD, that the applicant can get at any available term. */
  amountMin: number;
  amountMax: number;
}

export function createEmptyLoanPrice(): LoanPrice {
  return { openTerms: 0, slot: 0, amountMin: 0, amountMax: 0 };
}

/** Reads the values of a borrower. Returns null if the amount, the credit band or the state is missing. */
export function readApplicant({ roles, termMonths }: LoanTables, borrower: Readonly<FieldVector>): Applicant | null {
  const amount = borrower[roles.amount]!;
  const creditBand = borrower[roles.creditBand]!;
  const state = borrower[roles.state]!;
  if (amount === absentValue || creditBand === absentValue || state === absentValue) return null;
  const requestedMonths = roles.term < 0 ? absentValue : borrower[roles.term]!;
  return {
    amount,
    creditBand,
    term: termMonths.indexOf(requestedMonths),
    termMonths: requestedMonths,
    annualIncome: borrower[roles.annualIncome]!,
    monthlyDebt: roles.monthlyDebt < 0 ? absentValue : borrower[roles.monthlyDebt]!,
    state,
  };
}

/**
 * Prices an offer and writes the result into `price`. Returns false if the applicant cannot get the offer.
 *
 * A term is available if its highest APR is at most the APR cap of the state. An offer with a debt-to-income limit also requires that the
 * payment on the requested amount plus the payments on existing debts is within the limit. An applicant with unknown income or debt cannot
 * get an offer with a debt-to-income limit (docs/contract.md#eligibility).
 */
export function calculatePrice(tables: LoanTables, offer: number, applicant: Applicant, price: LoanPrice): boolean {
  const { amount } = applicant;
  const row = rowOf(tables, offer, applicant.creditBand);
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
  let openTerms = 0;
  let minFactor = Number.POSITIVE_INFINITY;
  const lastSlot = tables.firstSlot[row + 1]!;
  for (let slot = tables.firstSlot[row]!; slot < lastSlot; slot++) {
    const factor = tables.paymentFactor[slot]!;
    if (tables.aprMaxPercent[slot]! > aprCapPercent || amountUnits * factor > paymentMax) continue;
    const term = tables.slotTerm[slot]!;
    // The first available slot has the preferred term.
    if (openTerms === 0 || term === applicant.term) price.slot = slot;
    openTerms |= 1 << term;
    if (factor < minFactor) minFactor = factor;
  }
  if (openTerms === 0) return false;

  if (paymentMax !== Number.POSITIVE_INFINITY) {
    // `amount` has passed the debt-to-income check, so rounding errors must not reduce `amountMax` below `amount`.
    amountMax = Math.min(amountMax, Math.max(amount, Math.floor(paymentMax / (paymentUnitsPerUsd * minFactor))));
  }
  price.openTerms = openTerms;
  price.amountMin = amountMin;
  price.amountMax = amountMax;
  return true;
}

/** Returns the estimated monthly payment in whole cents for `amount` USD. The interest rate is the middle of the offer's range. */
export function monthlyPaymentCents(tables: LoanTables, price: LoanPrice, amount: number): number {
  return roundHalfUp(amount * tables.paymentFactor[price.slot]! * 100, 0);
}

/** Returns a function that reports every reason why `calculatePrice` returns false for an offer and this borrower. */
export function createLoanMismatchFinder(
  tables: LoanTables,
  borrower: Readonly<FieldVector>,
): (offer: number, add: MismatchCallback) => void {
  const applicant = readApplicant(tables, borrower);
  if (applicant !== null) return (offer, add) => checkPrice(tables, offer, applicant, add);
  const { roles } = tables;
  const missing = [roles.amount, roles.creditBand, roles.state].filter((field) => borrower[field] === absentValue);
  return (_offer, add) => {
    for (const field of missing) add('not_told', field);
  };
}

/** Calls `add` for each unmet rule of `calculatePrice`. Checks APR and payments only if the offer serves the applicant's credit band. */
function checkPrice(tables: LoanTables, offer: number, applicant: Applicant, add: MismatchCallback): void {
  const { roles } = tables;
  const { amount } = applicant;
  if (amount < tables.amountMin[offer]!) add('amount_too_low', roles.amount);
  const stateRule = tables.stateRuleSet[offer]! * tables.stateCount + applicant.state;
  if (amount < tables.stateAmountMin[stateRule]!) add('amount_too_low_in_state', roles.state);
  const { annualIncome, monthlyDebt } = applicant;
  const share = tables.debtToIncomeMax[offer]!;
  const limited = share !== Number.POSITIVE_INFINITY;
  if (limited && annualIncome < 0) add('not_told', roles.annualIncome);
  if (limited && monthlyDebt < 0) add('not_told', roles.monthlyDebt);

  const row = rowOf(tables, offer, applicant.creditBand);
  const amountMax = tables.amountMax[row]!;
  if (amountMax === 0) return;
  if (amount > amountMax) add('amount_too_high', roles.amount);

  const offered = listSlots(tables, row);
  const withinCap = offered.filter((slot) => tables.aprMaxPercent[slot]! <= tables.stateAprCap[stateRule]!);
  if (withinCap.length === 0) add('apr_above_cap', roles.state);
  if (!limited || annualIncome < 0 || monthlyDebt < 0) return;
  const room = maxMonthlyPayment(share, annualIncome, monthlyDebt);
  const affordable = (withinCap.length === 0 ? offered : withinCap).some(
    (slot) => amount * paymentUnitsPerUsd * tables.paymentFactor[slot]! <= room,
  );
  if (!affordable) add('debt_to_income', roles.monthlyDebt);
}
