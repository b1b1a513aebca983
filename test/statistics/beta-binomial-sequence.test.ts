import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { rateSequence } from '../../src/statistics/beta-binomial-sequence.ts';
import { assertRounded, bisect, integrate } from './close-to.ts';

describe('rateSequence', () => {
  it('has the known limits', () => {
    const { low, high } = rateSequence(12, 900, 0.05);
    assertRounded(low, '0.00470784');
    assertRounded(high, '0.02874829');
    const none = rateSequence(0, 900, 0.05);
    assert.equal(none.low, 0);
    assertRounded(none.high, '0.00522713');
  });

  it('contains the rates whose likelihood is above alpha of the mean likelihood under the prior', () => {
    for (const [successes, trials, alpha] of [
      [3, 40, 0.05],
      [30, 500, 0.01],
      [40, 40, 0.05],
    ] as const) {
      const logLikelihood = (p: number) =>
        (successes > 0 ? successes * Math.log(p) : 0) +
        (successes < trials ? (trials - successes) * Math.log1p(-p) : 0);
      const best = logLikelihood(successes / trials);
      // p = root ** 2 removes the pole of the prior at 0.
      const prior = (root: number) => 2 * (1 - root ** 2) ** 29;
      const mean =
        integrate((root) => prior(root) * Math.exp(logLikelihood(root ** 2) - best), 1e-9, 1 - 1e-9) /
        integrate(prior, 0, 1);
      const isCovered = (p: number) => mean / Math.exp(logLikelihood(p) - best) < 1 / alpha;
      const { low, high } = rateSequence(successes, trials, alpha);
      assert.ok(Math.abs(low - bisect(isCovered, 1e-9, successes / trials)) < 1e-6);
      if (successes < trials)
        assert.ok(Math.abs(high - bisect((p) => !isCovered(p), successes / trials, 1 - 1e-9)) < 1e-6);
      else assert.equal(high, 1);
    }
  });

  it('contains every rate before the first trial', () => {
    assert.deepEqual(rateSequence(0, 0, 0.05), { low: 0, high: 1 });
  });
});
