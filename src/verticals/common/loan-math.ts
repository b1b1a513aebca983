/**
 * Loan arithmetic (docs/contract.md#prices): the monthly payment of a loan with equal payments, and the actuarial APR of a loan whose
 * origination fee is deducted from the disbursed amount. Rates are per year, in percent. Results are not rounded.
 */

/** Returns the monthly payment per dollar of principal for a loan with equal payments. */
export function monthlyPaymentPerDollar(noteRatePercent: number, months: number): number {
  const rate = noteRatePercent / 1_200;
  if (rate === 0) return 1 / months;
  // `expm1` and `log1p` compute 1 - (1 + rate) ** -months without loss of precision at very low rates.
  return rate / -Math.expm1(-months * Math.log1p(rate));
}

/**
 * Returns the yearly rate in percent at which the present value of `months` payments of `payment` is `net`. The yearly rate is twelve times
 * the monthly rate. Returns 0 if the sum of all payments is at most `net`, the disbursed amount.
 *
 * Uses Newton's method to find the positive root of `f(rate) = net x rate - payment x (1 - (1 + rate) ^ -months)`. The function `f` is
 * convex and has two roots: 0 and the positive root. The iteration starts at `payment / net`, which is above the positive root, because at
 * this rate the interest alone equals the payment. Because `f` is convex, each step lowers the rate, but not below the positive root.
 */
export function solveAprPercent(net: number, payment: number, months: number): number {
  if (payment * months <= net) return 0;
  let rate = payment / net;
  for (let step = 0; step < 100; step++) {
    const repaidShare = -Math.expm1(-months * Math.log1p(rate));
    const excess = net * rate - payment * repaidShare;
    const slope = net - (payment * months * (1 - repaidShare)) / (1 + rate);
    const next = rate - excess / slope;
    if (!(next < rate) || next <= 0) break;
    rate = next;
  }
  return rate * 1_200;
}

/**
 * Returns the APR of a loan that is amortized at the note rate. The borrower receives the principal minus the origination fee, which is a
 * percentage of the principal. The APR does not depend on the amount of the loan, so it can be computed once, when a catalog is compiled.
 */
export function computeAprPercent(noteRatePercent: number, feePercent: number, months: number): number {
  if (feePercent === 0) return noteRatePercent;
  return solveAprPercent(1 - feePercent / 100, monthlyPaymentPerDollar(noteRatePercent, months), months);
}
