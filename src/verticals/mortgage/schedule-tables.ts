import { getOrAdd } from '../../domain/get-or-add.ts';
import { indexFirstItems } from '../../matching/match-tables.ts';
import { PaymentStream, type PresentValue, solveAnnualPercentageRate } from './annual-percentage-rate.ts';
import {
  computeBalanceAfterMonths,
  createLoanSchedule,
  type RateAdjustment,
  type ScheduleSegment,
} from './loan-schedule.ts';

/** Number of months for which FHA loans of up to 90 % loan-to-value pay the annual premium. */
export const fhaPremiumMonths = 132;

/** Number of months over which `cost_over_five_years` adds up costs. */
export const costPeriodMonths = 60;

/**
 * Schedules of the loans in a catalog, by schedule number. A schedule is a combination of rate, term and rate adjustment. Many prices have
 * the same schedule, so figures that take long to compute are computed once for each schedule. Amounts are for a loan of one dollar.
 */
export interface ScheduleTables {
  /** Initial rate, in thousandths of a percent. */
  readonly rate: Uint16Array;
  readonly termMonths: Uint16Array;
  /** First monthly payment of principal and interest. */
  readonly payment: Float64Array;
  /** Sum of the first `costPeriodMonths` payments, balance after these payments, and sum of the balances before each of these payments. */
  readonly paidEarly: Float64Array;
  readonly balanceEarly: Float64Array;
  readonly balanceSumEarly: Float64Array;
  /** Average of the balances before the first twelve payments. */
  readonly firstYearBalance: Float64Array;
  /** Monthly rate at which the present value of the payments is one dollar: the APR of the loan without any charges. */
  readonly yieldRate: Float64Array;
  /** Negative derivative of the present value of the payments with respect to the rate, at `yieldRate`. */
  readonly yieldSlope: Float64Array;
  /**
   * Present value at `yieldRate` of a yearly premium of 1 (paid monthly, of the average balance of each year), and the negative derivative
   * of this value with respect to the rate. `premium*Fha`: the premiums end after `fhaPremiumMonths`. `premium*Term`: the premiums last for
   * the whole term.
   */
  readonly premiumValueFha: Float64Array;
  readonly premiumSlopeFha: Float64Array;
  readonly premiumValueTerm: Float64Array;
  readonly premiumSlopeTerm: Float64Array;
  /** Number of the first segment of each schedule, followed by the number of all segments. The segments of all schedules are one list. */
  readonly firstSegment: Uint32Array;
  /** Number of payments before each segment, its monthly rate, its payment and the balance at its start. */
  readonly segmentMonth: Uint16Array;
  readonly segmentRate: Float64Array;
  readonly segmentPayment: Float64Array;
  readonly segmentBalance: Float64Array;
}

/** Assigns a number to each different schedule of a catalog. */
export class ScheduleNumberMap {
  readonly #adjustments = new Map<string, number>();
  readonly #numbers = new Map<number, number>();

  get count(): number {
    return this.#numbers.size;
  }

  /** Returns the number of an adjustment, for `findOrAddScheduleNumber`. */
  findOrAddAdjustmentNumber(adjustment: RateAdjustment | null): number {
    return getOrAdd(this.#adjustments, JSON.stringify(adjustment), () => this.#adjustments.size);
  }

  /** Returns the number of a schedule. A new schedule gets the value of `count` before the call. `rate` is in thousandths of a percent. */
  findOrAddScheduleNumber(rate: number, termMonths: number, adjustmentNumber: number): number {
    // A rate is below 2^16, a term below 2^9.
    const key = (adjustmentNumber * 2 ** 9 + termMonths) * 2 ** 16 + rate;
    return getOrAdd(this.#numbers, key, () => this.#numbers.size);
  }
}

/** Collects the different schedules of a catalog. */
export class ScheduleCollector {
  readonly #numbers = new ScheduleNumberMap();
  readonly #schedules: { rate: number; termMonths: number; segments: readonly ScheduleSegment[] }[] = [];

  /** Returns a function that returns the number of a schedule with the given adjustment. The function adds the schedule if it is new. */
  createScheduleAdder(adjustment: RateAdjustment | null): (rate: number, termMonths: number) => number {
    const adjustmentNumber = this.#numbers.findOrAddAdjustmentNumber(adjustment);
    return (rate, termMonths) => {
      const number = this.#numbers.findOrAddScheduleNumber(rate, termMonths, adjustmentNumber);
      if (number === this.#schedules.length) {
        this.#schedules.push({ rate, termMonths, segments: createLoanSchedule(rate, termMonths, adjustment) });
      }
      return number;
    };
  }

  compileScheduleTables(): ScheduleTables {
    const schedules = this.#schedules;
    const segments = schedules.flatMap((schedule) => schedule.segments);
    const column = () => new Float64Array(schedules.length);
    const tables: ScheduleTables = {
      rate: Uint16Array.from(schedules, ({ rate }) => rate),
      termMonths: Uint16Array.from(schedules, ({ termMonths }) => termMonths),
      payment: Float64Array.from(schedules, (schedule) => schedule.segments[0]!.payment),
      paidEarly: column(),
      balanceEarly: column(),
      balanceSumEarly: column(),
      firstYearBalance: column(),
      yieldRate: column(),
      yieldSlope: column(),
      premiumValueFha: column(),
      premiumSlopeFha: column(),
      premiumValueTerm: column(),
      premiumSlopeTerm: column(),
      firstSegment: indexFirstItems(schedules.map((schedule) => schedule.segments)),
      segmentMonth: Uint16Array.from(segments, ({ month }) => month),
      segmentRate: Float64Array.from(segments, ({ monthlyRate }) => monthlyRate),
      segmentPayment: Float64Array.from(segments, ({ payment }) => payment),
      segmentBalance: Float64Array.from(segments, ({ balance }) => balance),
    };
    for (const [number, schedule] of schedules.entries()) fillFigures(tables, number, schedule);
    return tables;
  }
}

const stream = new PaymentStream();
const present: PresentValue = { value: 0, slope: 0 };

function fillFigures(
  tables: ScheduleTables,
  number: number,
  { termMonths, segments }: { readonly termMonths: number; readonly segments: readonly ScheduleSegment[] },
): void {
  for (const segment of segments) {
    const months = Math.min(segment.months, costPeriodMonths - segment.month);
    if (months <= 0) break;
    const balance = computeBalanceAfterMonths(segment, months);
    tables.paidEarly[number]! += months * segment.payment;
    // The payments are interest on the balances plus the decrease of the balance.
    const interest = months * segment.payment - (segment.balance - balance);
    tables.balanceSumEarly[number]! += interest / segment.monthlyRate;
    tables.balanceEarly[number] = balance;
  }
  stream.clear();
  addScheduledPayments(tables, number, 1, stream);
  const yieldRate = solveAnnualPercentageRate(1, stream, undefined, tables.rate[number]! / 1_000) / 1_200;
  tables.yieldRate[number] = yieldRate;
  stream.computePresentValue(yieldRate, present);
  tables.yieldSlope[number] = -present.slope;

  const balances = computeAverageYearlyBalances(tables, number);
  tables.firstYearBalance[number] = balances[0]!;
  stream.clear();
  for (let year = 0; year < termMonths / 12; year++) {
    stream.add(balances[year]! / 12, 12, year * 12);
    if ((year + 1) * 12 !== Math.min(fhaPremiumMonths, termMonths)) continue;
    stream.computePresentValue(yieldRate, present);
    tables.premiumValueFha[number] = present.value;
    tables.premiumSlopeFha[number] = -present.slope;
  }
  stream.computePresentValue(yieldRate, present);
  tables.premiumValueTerm[number] = present.value;
  tables.premiumSlopeTerm[number] = -present.slope;
}

/** Adds the payments of principal and interest of a loan to a stream. */
export function addScheduledPayments(
  tables: ScheduleTables,
  number: number,
  loan: number,
  payments: PaymentStream,
): void {
  const end = tables.firstSegment[number + 1]!;
  for (let segment = tables.firstSegment[number]!; segment < end; segment++) {
    const month = tables.segmentMonth[segment]!;
    const lastMonth = segment + 1 < end ? tables.segmentMonth[segment + 1]! : tables.termMonths[number]!;
    payments.add(loan * tables.segmentPayment[segment]!, lastMonth - month, month);
  }
}

const balanceAverages = new Float64Array(40);

/**
 * Returns the average scheduled balance of each year: the average of the balances before the twelve payments of the year. The next call
 * reuses the result.
 */
export function computeAverageYearlyBalances(tables: ScheduleTables, number: number): Float64Array {
  const end = tables.firstSegment[number + 1]!;
  const termMonths = tables.termMonths[number]!;
  balanceAverages.fill(0);
  for (let segment = tables.firstSegment[number]!; segment < end; segment++) {
    const lastMonth = segment + 1 < end ? tables.segmentMonth[segment + 1]! : termMonths;
    const growth = 1 + tables.segmentRate[segment]!;
    const payment = tables.segmentPayment[segment]!;
    let balance = tables.segmentBalance[segment]!;
    for (let month = tables.segmentMonth[segment]!; month < lastMonth; month++) {
      balanceAverages[Math.floor(month / 12)]! += balance / 12;
      balance = balance * growth - payment;
    }
  }
  return balanceAverages;
}

/** Scheduled balances that exceed the wanted balance only by rounding errors are equal to the wanted balance. */
const balanceTolerance = 1e-12;

/**
 * Returns the number of the first payment after which the scheduled balance is at most `share` of the loan; 0 if the balance is at most
 * this share from the start.
 */
export function findMonthWhenBalanceIsReached(tables: ScheduleTables, number: number, share: number): number {
  const wanted = share + balanceTolerance;
  if (wanted >= 1) return 0;
  let segment = tables.firstSegment[number]!;
  const end = tables.firstSegment[number + 1]!;
  while (segment + 1 < end && tables.segmentBalance[segment + 1]! > wanted) segment++;
  const rate = tables.segmentRate[segment]!;
  const paid = tables.segmentPayment[segment]! / rate;
  const balance = tables.segmentBalance[segment]!;
  const growthLog = Math.log1p(rate);
  // The balance after k payments of the segment is `paid - (paid - balance) * (1 + rate) ** k`.
  const payments = Math.ceil(Math.log((paid - wanted) / (paid - balance)) / growthLog - 1e-9);
  return tables.segmentMonth[segment]! + Math.max(1, payments);
}
