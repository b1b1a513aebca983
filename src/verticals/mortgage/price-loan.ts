import { roundHalfUp } from '../../domain/money.ts';
import { PaymentStream, solveAnnualPercentageRate } from './annual-percentage-rate.ts';
import {
  annualPremiumFigureIndex,
  fhaInsuranceKind,
  lenderFeesFigureIndex,
  type MortgageTables,
  noInsuranceKind,
  pointsFigureIndex,
  prepaidDaysFigureIndex,
  privateInsuranceKind,
  scheduleFigureIndex,
  upfrontPremiumFigureIndex,
} from './mortgage-tables.ts';
import type { Applicant, LoanQuote } from './quote-loan.ts';
import {
  addScheduledPayments,
  computeAverageYearlyBalances,
  costPeriodMonths,
  fhaPremiumMonths,
  findMonthWhenBalanceIsReached,
} from './schedule-tables.ts';

/**
 * Prices of a quoted loan in USD, not rounded (docs/verticals/mortgage.md#prices). The financed loan is the requested amount plus the
 * upfront premium.
 */
export interface LoanPrice {
  financedLoan: number;
  upfrontPremium: number;
  /** Points, lender fees and prepaid interest, which the borrower pays at closing. */
  closingCharges: number;
  principalAndInterest: number;
  /** Mortgage insurance of the first month; 0 without mortgage insurance. */
  firstPremium: number;
  /** Number of months with mortgage insurance. */
  premiumMonths: number;
}

export function createEmptyMortgageLoanPrice(): LoanPrice {
  return {
    financedLoan: 0,
    upfrontPremium: 0,
    closingCharges: 0,
    principalAndInterest: 0,
    firstPremium: 0,
    premiumMonths: 0,
  };
}

/** Share of the value of the home at which private mortgage insurance ends (Homeowners Protection Act, 12 U.S.C. 4901). */
const privateInsuranceEndShare = 0.78;

/** Loan-to-value ratio, in hundredths of a percent, above which FHA loans pay the annual premium for the whole term. */
const fhaTermPremiumLtvHundredths = 9_000;

const daysPerYear = 365;

/** Returns a twelfth of the yearly premium on a balance of `amount`, in USD. */
function monthlyPremiumOf({ prices }: MortgageTables, slot: number, amount: number): number {
  return (amount * prices[slot + annualPremiumFigureIndex]!) / 1_200_000;
}

/** Computes the prices of an offer that `quoteLoan` quoted for the applicant, and writes the result into `price`. */
export function priceLoan(
  tables: MortgageTables,
  offer: number,
  { amount, value, ltvHundredths }: Applicant,
  { slot }: LoanQuote,
  price: LoanPrice,
): void {
  const { schedules } = tables;
  const schedule = tables.prices[slot + scheduleFigureIndex]!;
  const upfrontPremium = (amount * tables.prices[slot + upfrontPremiumFigureIndex]!) / 100_000;
  const financedLoan = amount + upfrontPremium;
  const dailyRate = schedules.rate[schedule]! / 100_000 / daysPerYear;
  price.financedLoan = financedLoan;
  price.upfrontPremium = upfrontPremium;
  price.closingCharges =
    (amount * tables.prices[slot + pointsFigureIndex]!) / 100_000 +
    tables.prices[slot + lenderFeesFigureIndex]! +
    financedLoan * dailyRate * tables.prices[slot + prepaidDaysFigureIndex]!;
  price.principalAndInterest = financedLoan * schedules.payment[schedule]!;
  const monthlyPremium = monthlyPremiumOf(tables, slot, amount);
  const insurance = tables.insurance[offer]!;
  if (monthlyPremium === 0 || insurance === noInsuranceKind) {
    price.firstPremium = 0;
    price.premiumMonths = 0;
  } else if (insurance === privateInsuranceKind) {
    price.firstPremium = monthlyPremium;
    const endShare = (privateInsuranceEndShare * value) / financedLoan;
    // The insurance ends at the midpoint of the term at the latest (12 U.S.C. 4902(c)).
    price.premiumMonths = Math.min(
      findMonthWhenBalanceIsReached(schedules, schedule, endShare),
      schedules.termMonths[schedule]! / 2,
    );
  } else {
    const termMonths = schedules.termMonths[schedule]!;
    const endsEarly = insurance === fhaInsuranceKind && ltvHundredths <= fhaTermPremiumLtvHundredths;
    price.firstPremium = monthlyPremium * schedules.firstYearBalance[schedule]!;
    price.premiumMonths = endsEarly ? Math.min(fhaPremiumMonths, termMonths) : termMonths;
  }
}

/**
 * Returns the cost of a loan over five years in cents: the payments, the charges at closing and the upfront premium, minus the principal
 * repaid.
 */
export function computeCostOverFiveYearsCents(
  tables: MortgageTables,
  offer: number,
  { amount }: Applicant,
  { slot }: LoanQuote,
  price: LoanPrice,
): number {
  const { schedules } = tables;
  const schedule = tables.prices[slot + scheduleFigureIndex]!;
  const monthlyPremium = monthlyPremiumOf(tables, slot, amount);
  const premiums =
    tables.insurance[offer] === privateInsuranceKind
      ? monthlyPremium * Math.min(price.premiumMonths, costPeriodMonths)
      : monthlyPremium * schedules.balanceSumEarly[schedule]!;
  const principalRepaid = price.financedLoan * (1 - schedules.balanceEarly[schedule]!);
  const payments = price.financedLoan * schedules.paidEarly[schedule]! + premiums;
  return roundHalfUp((payments + price.closingCharges + price.upfrontPremium - principalRepaid) * 100, 0);
}

/** Returns the amount financed: the loan without the prepaid finance charges (12 CFR 1026.18(b)). */
function amountFinanced({ amount }: Applicant, price: LoanPrice): number {
  return amount - price.closingCharges;
}

/**
 * Returns a lower bound of the APR of a loan, in percent, without solving for the APR. The function makes one step of Newton's method,
 * which starts from the yield of the payments of principal and interest. The present value is convex, so the step ends below the APR.
 */
export function computeAprLowerBoundPercent(
  tables: MortgageTables,
  offer: number,
  applicant: Applicant,
  { slot }: LoanQuote,
  price: LoanPrice,
): number {
  const { schedules } = tables;
  const schedule = tables.prices[slot + scheduleFigureIndex]!;
  const rate = schedules.yieldRate[schedule]!;
  let excess = price.financedLoan - amountFinanced(applicant, price);
  let slope = price.financedLoan * schedules.yieldSlope[schedule]!;
  if (price.premiumMonths > 0) {
    const insurance = tables.insurance[offer]!;
    if (insurance === privateInsuranceKind) {
      const months = price.premiumMonths;
      const remaining = Math.exp(-months * Math.log1p(rate));
      const annuity = (1 - remaining) / rate;
      excess += price.firstPremium * annuity;
      slope += price.firstPremium * (annuity / rate - (months * remaining) / (rate * (1 + rate)));
    } else {
      const premium = 12 * monthlyPremiumOf(tables, slot, applicant.amount);
      const isWholeTerm = price.premiumMonths === schedules.termMonths[schedule];
      excess += premium * (isWholeTerm ? schedules.premiumValueTerm : schedules.premiumValueFha)[schedule]!;
      slope += premium * (isWholeTerm ? schedules.premiumSlopeTerm : schedules.premiumSlopeFha)[schedule]!;
    }
  }
  return 1_200 * (rate + excess / slope);
}

const payments = new PaymentStream();

/** Returns the APR of a loan in percent, not rounded: the APR of the whole stream of payments, mortgage insurance included. */
export function computeLoanAprPercent(
  tables: MortgageTables,
  offer: number,
  applicant: Applicant,
  quote: LoanQuote,
  price: LoanPrice,
): number {
  payments.clear();
  const schedule = tables.prices[quote.slot + scheduleFigureIndex]!;
  addScheduledPayments(tables.schedules, schedule, price.financedLoan, payments);
  addPremiumPayments(tables, offer, applicant, quote, price);
  const start = computeAprLowerBoundPercent(tables, offer, applicant, quote, price);
  return solveAnnualPercentageRate(amountFinanced(applicant, price), payments, undefined, start);
}

/** Payments of a loan from one month to the next change of the rate or of the payment. */
export interface PaymentPeriod {
  /** Number of the first payment of the period; the first payment of the loan is 1. */
  readonly from_month: number;
  /** Yearly rate in percent. */
  readonly rate: number;
  /** Monthly payment of principal, interest and mortgage insurance, in USD. */
  readonly payment: number;
}

/** Lists the payments of a loan: the payments whose APR `computeLoanAprPercent` returns. */
export function listPaymentPeriods(
  tables: MortgageTables,
  offer: number,
  { amount }: Applicant,
  { slot }: LoanQuote,
  { financedLoan, firstPremium, premiumMonths }: LoanPrice,
): PaymentPeriod[] {
  const { schedules, insurance } = tables;
  const schedule = tables.prices[slot + scheduleFigureIndex]!;
  const isEqualPremium = insurance[offer] === privateInsuranceKind;
  const premiumShares =
    premiumMonths === 0 || isEqualPremium ? null : computeAverageYearlyBalances(schedules, schedule);
  const monthlyPremium = isEqualPremium ? firstPremium : monthlyPremiumOf(tables, slot, amount);
  const periods: PaymentPeriod[] = [];
  const segmentsEnd = schedules.firstSegment[schedule + 1]!;
  for (let segment = schedules.firstSegment[schedule]!; segment < segmentsEnd; segment++) {
    const rate = Math.round(schedules.segmentRate[segment]! * 1_200_000) / 1_000;
    const lastMonth =
      segment + 1 < segmentsEnd ? schedules.segmentMonth[segment + 1]! : schedules.termMonths[schedule]!;
    let month = schedules.segmentMonth[segment]!;
    while (month < lastMonth) {
      const isInsured = month < premiumMonths;
      const year = Math.floor(month / 12);
      const premium = isInsured ? monthlyPremium * (premiumShares?.[year] ?? 1) : 0;
      const payment = roundHalfUp(financedLoan * schedules.segmentPayment[segment]! + premium, 2);
      const before = periods.at(-1);
      if (before?.rate !== rate || before.payment !== payment) periods.push({ from_month: month + 1, rate, payment });
      const premiumChange = isEqualPremium ? premiumMonths : Math.min(premiumMonths, (year + 1) * 12);
      month = isInsured ? Math.min(lastMonth, premiumChange) : lastMonth;
    }
  }
  return periods;
}

/** Adds the premiums of mortgage insurance to `payments`: equal premiums, or premiums of the average balance of each year. */
function addPremiumPayments(
  tables: MortgageTables,
  offer: number,
  { amount }: Applicant,
  { slot }: LoanQuote,
  { firstPremium, premiumMonths }: LoanPrice,
): void {
  if (premiumMonths === 0) return;
  if (tables.insurance[offer] === privateInsuranceKind) {
    payments.add(firstPremium, premiumMonths, 0);
    return;
  }
  const monthlyPremium = monthlyPremiumOf(tables, slot, amount);
  const balances = computeAverageYearlyBalances(tables.schedules, tables.prices[slot + scheduleFigureIndex]!);
  for (let year = 0; year * 12 < premiumMonths; year++) payments.add(monthlyPremium * balances[year]!, 12, year * 12);
}
