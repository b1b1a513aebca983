import { roundHalfUp } from '../../domain/money.ts';
import { PaymentStream, solveAnnualPercentageRate } from './annual-percentage-rate.ts';
import {
  annualPremiumFigure,
  fhaInsurance,
  lenderFeesFigure,
  type MortgageTables,
  noInsurance,
  pointsFigure,
  prepaidDaysFigure,
  privateInsurance,
  scheduleFigure,
  upfrontPremiumFigure,
} from './mortgage-tables.ts';
import type { Applicant, LoanQuote } from './quote-loan.ts';
import {
  addScheduledPayments,
  costMonths,
  fhaPremiumMonths,
  monthOfBalance,
  yearlyBalances,
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

export function emptyLoanPrice(): LoanPrice {
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

/** Loan-to-value ratio in percent above which FHA loans pay the annual premium for the whole term. */
const fhaTermPremiumLtvPercent = 90;

const daysPerYear = 365;

/** Returns a twelfth of the yearly premium on a balance of `amount`, in USD. */
function monthlyPremiumOf({ prices }: MortgageTables, slot: number, amount: number): number {
  return (amount * prices[slot + annualPremiumFigure]!) / 1_200_000;
}

/** Computes the prices of an offer that `quoteLoan` quoted for the applicant, and writes the result into `price`. */
export function priceLoan(
  tables: MortgageTables,
  offer: number,
  { amount, value }: Applicant,
  { slot }: LoanQuote,
  price: LoanPrice,
): void {
  const { schedules } = tables;
  const schedule = tables.prices[slot + scheduleFigure]!;
  const upfrontPremium = (amount * tables.prices[slot + upfrontPremiumFigure]!) / 100_000;
  const financedLoan = amount + upfrontPremium;
  const dailyRate = schedules.rate[schedule]! / 100_000 / daysPerYear;
  price.financedLoan = financedLoan;
  price.upfrontPremium = upfrontPremium;
  price.closingCharges =
    (amount * tables.prices[slot + pointsFigure]!) / 100_000 +
    tables.prices[slot + lenderFeesFigure]! +
    financedLoan * dailyRate * tables.prices[slot + prepaidDaysFigure]!;
  price.principalAndInterest = financedLoan * schedules.payment[schedule]!;
  const monthlyPremium = monthlyPremiumOf(tables, slot, amount);
  const insurance = tables.insurance[offer]!;
  if (monthlyPremium === 0 || insurance === noInsurance) {
    price.firstPremium = 0;
    price.premiumMonths = 0;
  } else if (insurance === privateInsurance) {
    price.firstPremium = monthlyPremium;
    price.premiumMonths = monthOfBalance(schedules, schedule, (privateInsuranceEndShare * value) / financedLoan);
  } else {
    const termMonths = schedules.termMonths[schedule]!;
    const endsEarly = insurance === fhaInsurance && amount * 100 <= fhaTermPremiumLtvPercent * value;
    price.firstPremium = monthlyPremium * schedules.firstYearBalance[schedule]!;
    price.premiumMonths = endsEarly ? Math.min(fhaPremiumMonths, termMonths) : termMonths;
  }
}

/**
 * Returns the cost of a loan over five years in cents: the payments, the charges at closing and the upfront premium, minus the principal
 * repaid.
 */
export function costOverFiveYearsCents(
  tables: MortgageTables,
  offer: number,
  { amount }: Applicant,
  { slot }: LoanQuote,
  price: LoanPrice,
): number {
  const { schedules } = tables;
  const schedule = tables.prices[slot + scheduleFigure]!;
  const monthlyPremium = monthlyPremiumOf(tables, slot, amount);
  const premiums =
    tables.insurance[offer] === privateInsurance
      ? monthlyPremium * Math.min(price.premiumMonths, costMonths)
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
 * Returns a percentage that is at most the APR of a loan, without solving for the APR: one step of Newton's method from the yield of the
 * payments of principal and interest. The present value is convex, so the step ends below the APR.
 */
export function leastAprPercent(
  tables: MortgageTables,
  offer: number,
  applicant: Applicant,
  { slot }: LoanQuote,
  price: LoanPrice,
): number {
  const { schedules } = tables;
  const schedule = tables.prices[slot + scheduleFigure]!;
  const rate = schedules.yieldRate[schedule]!;
  let excess = price.financedLoan - amountFinanced(applicant, price);
  let slope = price.financedLoan * schedules.yieldSlope[schedule]!;
  if (price.premiumMonths > 0) {
    const insurance = tables.insurance[offer]!;
    if (insurance === privateInsurance) {
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
export function loanAprPercent(
  tables: MortgageTables,
  offer: number,
  applicant: Applicant,
  quote: LoanQuote,
  price: LoanPrice,
): number {
  payments.clear();
  const schedule = tables.prices[quote.slot + scheduleFigure]!;
  addScheduledPayments(tables.schedules, schedule, price.financedLoan, payments);
  addPremiums(tables, offer, applicant, quote, price);
  const start = leastAprPercent(tables, offer, applicant, quote, price);
  return solveAnnualPercentageRate(amountFinanced(applicant, price), payments, undefined, start);
}

/** Adds the premiums of mortgage insurance to `payments`: equal premiums, or premiums of the average balance of each year. */
function addPremiums(
  tables: MortgageTables,
  offer: number,
  { amount }: Applicant,
  { slot }: LoanQuote,
  { firstPremium, premiumMonths }: LoanPrice,
): void {
  if (premiumMonths === 0) return;
  if (tables.insurance[offer] === privateInsurance) {
    payments.add(firstPremium, premiumMonths, 0);
    return;
  }
  const monthlyPremium = monthlyPremiumOf(tables, slot, amount);
  const balances = yearlyBalances(tables.schedules, tables.prices[slot + scheduleFigure]!);
  for (let year = 0; year * 12 < premiumMonths; year++) payments.add(monthlyPremium * balances[year]!, 12, year * 12);
}
