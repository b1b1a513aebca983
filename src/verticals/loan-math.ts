/**
 * Loan arithmetic (docs/contract.md#prices): level monthly payments, and the actuarial APR of a loan whose origination fee is deducted
 * from the amount paid out. Rates are per year, in percent. Results are not rounded.
 */

/** Returns the level monthly payment per dollar of principal. */
export function paymentFactor(noteRatePercent: number, months: number): number {
  const rate = noteRatePercent / 1_200;
  if (rate === 0) return 1 / months;
  // Computes 1 - (1 + rate) ** -months without loss of precision at very low rates.
  return rate / -Math.expm1(-months * Math.log1p(rate));
}

/**
 * Returns the yearly rate, twelve times the monthly rate, at which the present value of `months` payments of `payment` is `net`.
 * Returns 0 if the payments do not exceed `net`.
 *
 * Uses Newton's method on `net x rate - payment x (1 - (1 + rate) ^ -months)`. This function is convex. It has one root at 0, and the
 * wanted root is above 0. At the first rate the interest alone equals the payment, so this rate is above the wanted root. Every step
 * approaches the root from above and cannot overshoot.
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
 * Returns the APR of a loan that is amortised at the note rate and whose origination fee, a percentage of the principal, is deducted
 * from the amount paid out. The APR does not depend on the amount, so it is computed when a catalog is compiled.
 */
export function aprPercent(noteRatePercent: number, feePercent: number, months: number): number {
  if (feePercent === 0) return noteRatePercent;
  return solveAprPercent(1 - feePercent / 100, paymentFactor(noteRatePercent, months), months);
}
