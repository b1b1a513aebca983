import { monthlyPaymentPerDollar } from '../common/loan-math.ts';

/**
 * Scheduled payments and balances of a loan of one dollar. Interest accrues monthly, a twelfth of the yearly rate on the balance; payments
 * are not rounded. Rates are in thousandths of a percent, so that sums and differences of rates are exact.
 */

/** Rules for the rate of an adjustable loan after the fixed period (docs/verticals/mortgage.md#adjustable-loans). */
export interface RateAdjustment {
  /** Number of months with the initial rate. */
  readonly fixedMonths: number;
  /** Number of months between two adjustments of the rate. */
  readonly intervalMonths: number;
  /** Sum of the index value and the margin. */
  readonly indexedRate: number;
  /** Largest change of the rate at the first adjustment. */
  readonly firstCap: number;
  /** Largest change of the rate at each later adjustment. */
  readonly periodicCap: number;
  /** Largest increase of the rate over the initial rate. */
  readonly lifetimeCap: number;
}

/** Months in which a loan has the same rate and the same payment of principal and interest. */
export interface ScheduleSegment {
  /** Number of payments before the segment. */
  readonly month: number;
  readonly months: number;
  /** Rate per month as a fraction, such as 0.005. */
  readonly monthlyRate: number;
  readonly payment: number;
  /** Balance at the start of the segment. */
  readonly balance: number;
}

/** Creates the schedule of a loan. `rate` is the initial rate; a loan without an `adjustment` keeps it for the whole term. */
export function createLoanSchedule(
  rate: number,
  termMonths: number,
  adjustment: RateAdjustment | null,
): readonly ScheduleSegment[] {
  const rates = listRates(rate, termMonths, adjustment);
  let balance = 1;
  return rates.map(({ month, rate: current }, at) => {
    const months = (rates[at + 1]?.month ?? termMonths) - month;
    const monthlyRate = current / 1_200_000;
    const payment = balance * monthlyPaymentPerDollar(current / 1_000, termMonths - month);
    const segment = { month, months, monthlyRate, payment, balance };
    balance = computeBalanceAfterMonths(segment, months);
    return segment;
  });
}

/** Returns the balance after a number of payments of a segment. */
export function computeBalanceAfterMonths({ monthlyRate, payment, balance }: ScheduleSegment, months: number): number {
  return balance + Math.expm1(months * Math.log1p(monthlyRate)) * (balance - payment / monthlyRate);
}

/** Lists the rates of a loan, each with the number of payments before it applies. */
function listRates(
  initialRate: number,
  termMonths: number,
  adjustment: RateAdjustment | null,
): { readonly month: number; readonly rate: number }[] {
  const rates = [{ month: 0, rate: initialRate }];
  if (adjustment === null) return rates;
  const { fixedMonths, intervalMonths, indexedRate, firstCap, periodicCap, lifetimeCap } = adjustment;
  let rate = initialRate;
  for (let month = fixedMonths; month < termMonths; month += intervalMonths) {
    const cap = month === fixedMonths ? firstCap : periodicCap;
    const withinCap = Math.min(rate + cap, Math.max(rate - cap, indexedRate));
    const next = Math.min(withinCap, initialRate + lifetimeCap);
    if (next !== rate) rates.push({ month, rate: next });
    rate = next;
  }
  return rates;
}
