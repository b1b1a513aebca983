/**
 * Second, simple implementation of the loan arithmetic (docs/contract.md#prices), independent of the code of the service.
 * Rates are yearly, in percent.
 */
export function levelPayment(principal: number, notePercent: number, months: number): number {
  const rate = notePercent / 1_200;
  return rate === 0 ? principal / months : (principal * rate) / (1 - (1 + rate) ** -months);
}

/** Computes the actuarial APR, in percent, for a fee that is deducted from the principal. Uses bisection. */
export function actuarialApr(notePercent: number, feePercent: number, months: number): number {
  const payment = levelPayment(1, notePercent, months);
  const net = 1 - feePercent / 100;
  let low = 0;
  let high = 1_000;
  for (let step = 0; step < 200; step++) {
    const middle = (low + high) / 2;
    if (levelPayment(net, middle, months) < payment) low = middle;
    else high = middle;
  }
  return high;
}
