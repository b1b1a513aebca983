import { absentValue, type FieldVector } from '../../domain/field-vector.ts';
import { rowOf } from '../../matching/match-tables.ts';
import type { MismatchCallback } from '../../matching/product-ranking.ts';
import {
  annualPremiumFigureIndex,
  computeLargestLoanAtLtv,
  computeLtvHundredths,
  findPricePosition,
  type MortgageTables,
  missingTermMarker,
  privateInsuranceKind,
  scheduleFigureIndex,
  upfrontPremiumFigureIndex,
} from './mortgage-tables.ts';

/** Values of a borrower that determine prices and rankings (docs/contract.md#fairness). */
export interface Applicant {
  readonly creditBand: number;
  /** Loan without financed premiums, in USD; 0 or negative if the borrower needs no loan. */
  readonly amount: number;
  /** Position of the field with which the borrower can change the amount. */
  readonly amountField: number;
  /** Value of the home, in USD. */
  readonly value: number;
  /** Loan-to-value ratio in hundredths of a percent, rounded down. */
  readonly ltvHundredths: number;
  /** Index of the requested term, or of the default term if none was requested. */
  readonly term: number;
  readonly isTermRequested: boolean;
  /** Gross annual income in whole USD; negative if unknown. */
  readonly annualIncome: number;
  /** Monthly payments on existing debt in whole USD; negative if unknown. */
  readonly monthlyDebt: number;
}

/** Quoted term and price of one offer for one applicant. */
export interface LoanQuote {
  /** Position of the price at the quoted term in `MortgageTables.prices`. */
  slot: number;
  /** Number of the quoted term among the terms of the offer. */
  localTerm: number;
  /** Number of the loan-to-value band among the bands of the offer. */
  ltvBand: number;
  /** Largest monthly payment, in USD, that the debt-to-income limit allows; infinite if the offer has no limit. */
  paymentMax: number;
}

export function createEmptyLoanQuote(): LoanQuote {
  return { slot: 0, localTerm: 0, ltvBand: 0, paymentMax: 0 };
}

/** Reads the values of a borrower. Returns null if a value that every price needs is missing. */
export function readApplicant(tables: MortgageTables, borrower: Readonly<FieldVector>): Applicant | null {
  const { fields, termMonths } = tables;
  if (listMissingFields(tables, borrower).length > 0) return null;
  const value = borrower[fields.value]!;
  const requestedMonths = borrower[fields.term]!;
  const isTermRequested = requestedMonths !== absentValue;
  const loan = readLoan(tables, borrower);
  return {
    ...loan,
    creditBand: borrower[fields.creditBand]!,
    value,
    ltvHundredths: computeLtvHundredths(loan.amount, value),
    term: isTermRequested ? termMonths.indexOf(requestedMonths) : tables.defaultTerm,
    isTermRequested,
    annualIncome: borrower[fields.annualIncome]!,
    monthlyDebt: borrower[fields.monthlyDebt]!,
  };
}

/** Returns the requested loan, and the field with which the borrower can change it. */
function readLoan({ fields, purposes }: MortgageTables, borrower: Readonly<FieldVector>) {
  const balance = borrower[fields.balance]!;
  switch (borrower[fields.purpose]) {
    case purposes.purchase:
      return { amount: borrower[fields.value]! - borrower[fields.downPayment]!, amountField: fields.downPayment };
    case purposes.refinance:
      return { amount: balance, amountField: fields.balance };
    default:
      return { amount: balance + borrower[fields.cashOut]!, amountField: fields.cashOut };
  }
}

/**
 * Finds the price of an offer and writes the result into `quote`. Returns false if the applicant cannot get the offer.
 *
 * A term is available if its payment of principal, interest and mortgage insurance, plus the payments on existing debts, is within the
 * debt-to-income limit. The quoted term is the requested term if it is available, otherwise the nearest available term. An applicant with
 * unknown income or debt cannot get an offer with a debt-to-income limit (docs/verticals/mortgage.md#eligibility).
 */
export function quoteLoan(tables: MortgageTables, offer: number, applicant: Applicant, quote: LoanQuote): boolean {
  const { amount } = applicant;
  const row = rowOf(tables, offer, applicant.creditBand);
  if (amount < tables.amountMin[offer]! || amount > tables.amountMax[offer]!) return false;
  if (applicant.ltvHundredths > tables.rowLtvMax[row]!) return false;
  const paymentMax = maxMonthlyPayment(tables, offer, applicant);
  if (paymentMax <= 0) return false;

  const ltvBand = findLtvBand(tables, offer, applicant);
  const terms = tables.termMonths.length;
  const firstLocal = tables.offeredTerms[offer]! * terms;
  const firstPreferred = applicant.term * terms;
  for (let place = 0; place < terms; place++) {
    const localTerm = tables.localTerm[firstLocal + tables.termPreference[firstPreferred + place]!]!;
    if (localTerm === missingTermMarker) continue;
    const slot = findPricePosition(tables, offer, applicant.creditBand, ltvBand, localTerm);
    if (amount * paymentPerDollar(tables, offer, slot) > paymentMax) continue;
    quote.slot = slot;
    quote.localTerm = localTerm;
    quote.ltvBand = ltvBand;
    quote.paymentMax = paymentMax;
    return true;
  }
  return false;
}

function findLtvBand(tables: MortgageTables, offer: number, { ltvHundredths }: Applicant): number {
  const first = tables.firstLtvBand[offer]!;
  let band = first;
  while (ltvHundredths > tables.ltvMax[band]!) band++;
  return band - first;
}

/**
 * Returns the largest monthly payment, in USD, that the debt-to-income limit of an offer allows: infinite without a limit, negative if
 * the income or the debts are unknown. The factor `1 + 4 * Number.EPSILON` keeps rounding errors from rejecting a payment that equals the
 * limit.
 */
function maxMonthlyPayment(tables: MortgageTables, offer: number, { annualIncome, monthlyDebt }: Applicant): number {
  const limit = tables.debtToIncomeMax[offer]!;
  if (limit === 0) return Number.POSITIVE_INFINITY;
  if (annualIncome < 0 || monthlyDebt < 0) return -1;
  // The limit is in hundredths of a percent of the monthly income, which is a twelfth of the annual income.
  return ((limit * annualIncome - 120_000 * monthlyDebt) / 120_000) * (1 + 4 * Number.EPSILON);
}

/** Returns the first monthly payment of principal, interest and mortgage insurance per dollar of the loan without financed premiums. */
function paymentPerDollar(tables: MortgageTables, offer: number, slot: number): number {
  const { schedules, prices } = tables;
  const schedule = prices[slot + scheduleFigureIndex]!;
  const principalAndInterest = (1 + prices[slot + upfrontPremiumFigureIndex]! / 100_000) * schedules.payment[schedule]!;
  const annualPremium = prices[slot + annualPremiumFigureIndex]!;
  if (annualPremium === 0) return principalAndInterest;
  const premiumBalance = tables.insurance[offer] === privateInsuranceKind ? 1 : schedules.firstYearBalance[schedule]!;
  return principalAndInterest + (annualPremium / 1_200_000) * premiumBalance;
}

/**
 * Returns the largest loan, in whole USD, that the applicant can get from an offer at the quoted term. The payment per dollar depends on
 * the loan-to-value band, so the function checks the bands from the highest to the lowest.
 */
export function computeLargestLoanUsd(
  tables: MortgageTables,
  offer: number,
  applicant: Applicant,
  quote: LoanQuote,
): number {
  const { amount, value, creditBand } = applicant;
  const row = rowOf(tables, offer, creditBand);
  const highest = Math.min(tables.amountMax[offer]!, computeLargestLoanAtLtv(tables.rowLtvMax[row]!, value));
  if (quote.paymentMax === Number.POSITIVE_INFINITY) return highest;
  const first = tables.firstLtvBand[offer]!;
  for (let band = tables.firstLtvBand[offer + 1]! - 1; band > first + quote.ltvBand; band--) {
    const aboveLoan = computeLargestLoanAtLtv(tables.ltvMax[band - 1]!, value);
    if (aboveLoan >= highest) continue;
    const slot = findPricePosition(tables, offer, creditBand, band - first, quote.localTerm);
    const inBand = Math.min(highest, computeLargestLoanAtLtv(tables.ltvMax[band]!, value));
    const affordable = Math.floor(quote.paymentMax / paymentPerDollar(tables, offer, slot));
    if (affordable > aboveLoan) return Math.min(inBand, affordable);
  }
  // The requested amount is affordable, so rounding errors must not reduce the result below the amount.
  const affordable = Math.max(amount, Math.floor(quote.paymentMax / paymentPerDollar(tables, offer, quote.slot)));
  return Math.min(highest, affordable, computeLargestLoanAtLtv(tables.ltvMax[first + quote.ltvBand]!, value));
}

/** Returns the set of an offer's terms that are available to an applicant who can get the offer. */
export function computeAvailableTermBits(
  tables: MortgageTables,
  offer: number,
  applicant: Applicant,
  quote: LoanQuote,
): number {
  const terms = tables.termMonths.length;
  let available = 0;
  for (let term = 0; term < terms; term++) {
    const localTerm = tables.localTerm[tables.offeredTerms[offer]! * terms + term]!;
    if (localTerm === missingTermMarker) continue;
    const slot = findPricePosition(tables, offer, applicant.creditBand, quote.ltvBand, localTerm);
    if (applicant.amount * paymentPerDollar(tables, offer, slot) <= quote.paymentMax) available |= 1 << term;
  }
  return available;
}

/** Returns a function that reports every reason why `quoteLoan` returns false for an offer and this borrower. */
export function createMortgageMismatchFinder(
  tables: MortgageTables,
  borrower: Readonly<FieldVector>,
): (offer: number, add: MismatchCallback) => void {
  const applicant = readApplicant(tables, borrower);
  const quote = createEmptyLoanQuote();
  if (applicant === null) {
    const missing = listMissingFields(tables, borrower);
    return (_offer, add) => {
      for (const field of missing) add('not_told', field);
    };
  }
  return (offer, add) => {
    const { amount, amountField, ltvHundredths, creditBand, annualIncome, monthlyDebt } = applicant;
    const { fields } = tables;
    const isLimited = tables.debtToIncomeMax[offer]! > 0;
    if (isLimited && annualIncome < 0) add('not_told', fields.annualIncome);
    if (isLimited && monthlyDebt < 0) add('not_told', fields.monthlyDebt);
    const isTooLow = amount < tables.amountMin[offer]!;
    const isTooHigh = amount > tables.amountMax[offer]!;
    if (isTooLow) add('amount_too_low', amountField);
    if (isTooHigh) add('amount_too_high', amountField);
    const ltvMax = tables.rowLtvMax[rowOf(tables, offer, creditBand)]!;
    // The filter on credit bands reports offers that do not serve the credit band.
    if (ltvMax === 0) return;
    const exceedsLtv = ltvHundredths > ltvMax;
    if (exceedsLtv) add('loan_to_value_too_high', amountField);
    if (isTooLow || isTooHigh || exceedsLtv || annualIncome < 0 || monthlyDebt < 0) return;
    if (!quoteLoan(tables, offer, applicant, quote)) add('debt_to_income', fields.monthlyDebt);
  };
}

/** Lists the fields that `readApplicant` needs and the borrower did not submit. */
function listMissingFields({ fields, purposes, roles }: MortgageTables, borrower: Readonly<FieldVector>): number[] {
  const purpose = borrower[fields.purpose]!;
  const isCashOut = purpose === purposes.cashOut;
  const needed = [
    fields.purpose,
    fields.value,
    fields.creditBand,
    roles.state,
    ...(purpose === purposes.purchase ? [fields.downPayment] : []),
    ...(purpose === purposes.refinance || isCashOut ? [fields.balance] : []),
    ...(isCashOut ? [fields.cashOut] : []),
  ];
  return needed.filter((field) => borrower[field] === absentValue);
}
