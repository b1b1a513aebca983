/**
 * Annual percentage rate of any stream of monthly payments by the actuarial method of Regulation Z (12 CFR 1026, Appendix J): the rate at
 * which the present value of all payments equals the amount financed. The APR is twelve times the monthly rate.
 */

/**
 * Stream of monthly payments, stored as runs of equal payments. Runs may overlap, such as the payments of principal and interest and the
 * premiums of mortgage insurance. `clear` makes the stream empty, so that it can be reused.
 */
export class PaymentStream {
  readonly #amounts: number[] = [];
  readonly #months: number[] = [];
  /** Number of months before the first payment of each run. */
  readonly #starts: number[] = [];
  #runs = 0;

  clear(): void {
    this.#runs = 0;
  }

  /**
   * Adds equal monthly payments.
   *
   * @param months number of payments, at least 1
   * @param start number of months before the first of these payments; 0 if the run starts with the first payment of the loan
   */
  add(amount: number, months: number, start: number): void {
    const run = this.#runs++;
    this.#amounts[run] = amount;
    this.#months[run] = months;
    this.#starts[run] = start;
  }

  /** Returns the sum of all payments, and the sum of each payment multiplied by its due month (1 is the month of the first payment). */
  sumPayments(): { readonly total: number; readonly timesMonth: number } {
    let total = 0;
    let timesMonth = 0;
    for (let run = 0; run < this.#runs; run++) {
      const months = this.#months[run]!;
      total += this.#amounts[run]! * months;
      timesMonth += this.#amounts[run]! * months * (this.#starts[run]! + (months + 1) / 2);
    }
    return { total, timesMonth };
  }

  /**
   * Computes the present value of the payments at a monthly rate above 0 (0.005 is 0.5 % a month), and its derivative with respect to the
   * rate. The first payment is due after one month.
   */
  computePresentValue(rate: number, result: PresentValue): void {
    const growthLog = Math.log1p(rate);
    let value = 0;
    let slope = 0;
    /** Number of months before a run, and the discount factor for these months. A run often starts where the previous run ends. */
    let start = 0;
    let factor = 1;
    for (let run = 0; run < this.#runs; run++) {
      if (this.#starts[run] !== start) {
        start = this.#starts[run]!;
        factor = Math.exp(-start * growthLog);
      }
      const months = this.#months[run]!;
      const repaid = -Math.expm1(-months * growthLog);
      const amount = this.#amounts[run]! * factor;
      value += (amount * repaid) / rate;
      slope += (amount * ((months * (1 - repaid) - start * repaid) / (1 + rate) - repaid / rate)) / rate;
      factor *= 1 - repaid;
      start += months;
    }
    result.value = value;
    result.slope = slope;
  }
}

export interface PresentValue {
  value: number;
  slope: number;
}

/** Time from the advance of a loan to its first payment: whole months and a fraction of a month (Appendix J (b)(5)). */
export interface FirstPaymentPeriod {
  readonly months: number;
  readonly monthFraction: number;
}

const regularFirstPeriod: FirstPaymentPeriod = { months: 1, monthFraction: 0 };

/** Monthly rates that differ by less than this value count as equal. The value corresponds to 1.2e-10 percentage points of an APR. */
const monthlyRateTolerance = 1e-13;
const stepsMax = 100;
const scratch: PresentValue = { value: 0, slope: 0 };

/**
 * Returns the APR in percent, not rounded. Returns 0 if the payments do not exceed the amount financed.
 *
 * Newton's method: the present value is a decreasing and convex function of the rate, so every step from a rate below the APR ends below
 * or at the APR, and the steps converge from every start.
 *
 * @param amountFinanced amount that the borrower can use: the loan without prepaid finance charges; above 0
 * @param startPercent estimate of the APR. A closer estimate needs fewer steps. Default: an estimate from the sum of the payments
 */
export function solveAnnualPercentageRate(
  amountFinanced: number,
  stream: PaymentStream,
  { months, monthFraction }: FirstPaymentPeriod = regularFirstPeriod,
  startPercent = 0,
): number {
  const { total, timesMonth } = stream.sumPayments();
  if (total <= amountFinanced) return 0;
  const isRegular = months === 1 && monthFraction === 0;
  // First step from a rate of 0. At this rate, the derivative of the present value is the sum of each payment multiplied by its due month.
  const leastRate = (total - amountFinanced) / (timesMonth + total * (months - 1 + monthFraction));
  let rate = startPercent > 0 ? startPercent / 1_200 : leastRate;
  for (let step = 0; step < stepsMax; step++) {
    stream.computePresentValue(rate, scratch);
    if (!isRegular) delayFirstPayment(rate, months, monthFraction, scratch);
    const next = rate - (scratch.value - amountFinanced) / scratch.slope;
    if (Math.abs(next - rate) <= monthlyRateTolerance) return next * 1_200;
    rate = next > 0 ? next : leastRate;
  }
  return rate * 1_200;
}

/** Converts a present value for a regular first period into the present value for the given first period. */
function delayFirstPayment(rate: number, months: number, monthFraction: number, result: PresentValue): void {
  const delay = (1 + rate) ** (1 - months) / (1 + monthFraction * rate);
  const delaySlope = delay * ((1 - months) / (1 + rate) - monthFraction / (1 + monthFraction * rate));
  result.slope = result.slope * delay + result.value * delaySlope;
  result.value *= delay;
}
