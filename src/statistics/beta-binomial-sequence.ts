import { logBeta } from './distributions.ts';

/** Prior of the confirmation rate: a mean of 1.6 %, with the weight of 30 sessions. */
const prior = { successes: 0.5, failures: 30 } as const;

/**
 * Returns a confidence sequence of a rate: intervals that contain the true rate at all looks together with probability 1 - `alpha`,
 * exactly and for any number of trials. Method: the values that a beta-binomial mixture does not reject (Robbins, "Statistical Methods
 * Related to the Law of the Iterated Logarithm", Annals of Mathematical Statistics 41, 1970).
 */
export function rateSequence(
  successes: number,
  trials: number,
  alpha: number,
): { readonly low: number; readonly high: number } {
  const failures = trials - successes;
  const mixture =
    logBeta(prior.successes + successes, prior.failures + failures) - logBeta(prior.successes, prior.failures);
  const isRejected = (rate: number) =>
    mixture - (successes > 0 ? successes * Math.log(rate) : 0) - (failures > 0 ? failures * Math.log1p(-rate) : 0) >=
    -Math.log(alpha);
  const rate = trials > 0 ? successes / trials : 0.5;
  return { low: findLimit(0, rate, isRejected), high: findLimit(1, rate, isRejected) };
}

/** Finds the limit between `outside` and a rate that is not rejected, by bisection; `outside` if it is not rejected either. */
function findLimit(outside: number, inside: number, isRejected: (rate: number) => boolean): number {
  if (!isRejected(outside)) return outside;
  let [rejected, accepted] = [outside, inside];
  for (let round = 0; round < 60; round++) {
    const middle = (rejected + accepted) / 2;
    if (isRejected(middle)) rejected = middle;
    else accepted = middle;
  }
  return accepted;
}
