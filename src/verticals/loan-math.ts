/**
 * Loan arithmetic (docs/contract.md#prices): level monthly payments, and the actuarial APR with the origination fee taken
 * out of the proceeds. Rates are yearly, in percent; nothing is rounded here.
 */

/** The level monthly payment that repays 1 over `months` at a yearly note rate: the same for every amount. */
export function paymentFactor(noteRatePercent: number, months: number): number {
  const rate = noteRatePercent / 1_200;
  if (rate === 0) return 1 / months;
  // 1 - (1 + rate) ** -months, without cancelling digits away at very low rates.
  return rate / -Math.expm1(-months * Math.log1p(rate));
}

/**
 * The yearly rate, twelve times the monthly one, at which `months` payments of `payment` are worth `net` today. 0 when the
 * payments do not exceed what was received.
 *
 * Newton's method on `net x rate - payment x (1 - (1 + rate) ^ -months)`, which is convex in the rate, has one root at 0 and
 * the one sought above it. At the first rate the interest alone eats the whole payment, so it lies above the root, and from
 * there every step of a convex function lands nearer and still above: it can neither overshoot nor cycle.
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
 * The APR of a loan whose note rate amortises the gross principal and whose origination fee is kept back from it: it
 * depends on the two rates and the term alone, so it is computed once for an offer, never for a request.
 */
export function aprPercent(noteRatePercent: number, feePercent: number, months: number): number {
  if (feePercent === 0) return noteRatePercent;
  return solveAprPercent(1 - feePercent / 100, paymentFactor(noteRatePercent, months), months);
}
