import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { roundHalfUp } from '../../../src/domain/money.ts';
import {
  compileTierInterest,
  compoundingFrequencies,
  computeAnnualPercentageYield,
  computeInterestPerDollar,
  computeTierYields,
  type InterestRules,
} from '../../../src/verticals/banking/annual-yield.ts';
import { slowInterest } from './slow-interest.ts';

const terms = [3, 6, 9, 12, 18, 24, 36, 48, 60];

/** Interest on a deposit, from the table that the ranking uses. */
function tableInterest(rules: InterestRules, deposit: number, months: number): number {
  const tier = rules.tiers.findLastIndex(({ from }) => from <= deposit);
  const { from, base, growth } = compileTierInterest(rules, months)[tier]!;
  return base + (deposit - from) * growth;
}

const rate = fc.integer({ min: 0, max: 2_500 }).map((hundredths) => hundredths / 100);
const months = fc.constantFrom(...terms);
const compounding = fc.constantFrom(...compoundingFrequencies);
const introductory = fc.record({ rate, months: fc.integer({ min: 1, max: 12 }) });
const steps = fc
  .uniqueArray(fc.integer({ min: 2, max: 60 }), { minLength: 1, maxLength: 4 })
  .chain((starts) =>
    fc.tuple(
      ...[1, ...starts.sort((one, other) => one - other)].map((from_month) =>
        fc.record({ from_month: fc.constant(from_month), rate }),
      ),
    ),
  );
const rules: fc.Arbitrary<InterestRules> = fc
  .record({
    starts: fc.uniqueArray(fc.integer({ min: 1, max: 500_000 }), { maxLength: 5 }),
    rates: fc.array(rate, { minLength: 6, maxLength: 6 }),
    compounding,
    tier_method: fc.constantFrom('whole_balance' as const, 'marginal' as const),
    changing: fc.oneof(fc.constant({}), fc.record({ introductory }), fc.record({ steps })),
  })
  .map(({ starts, rates, changing, ...rest }) => ({
    ...rest,
    ...changing,
    tiers: [0, ...starts.sort((one, other) => one - other)].map((from, at) => ({ from, rate: rates[at]! })),
  }));

describe('published examples of 12 CFR 1030, Appendix A', () => {
  test('interest of 61.68 USD on 1,000 USD in 365 days is a yield of 6.17 %', () => {
    assert.equal(roundHalfUp(computeAnnualPercentageYield(61.68, 1_000, 1), 2), 6.17);
  });

  test('interest of 30.37 USD on 1,000 USD in 182 days is a yield of 6.18 %', () => {
    assert.equal(roundHalfUp(computeAnnualPercentageYield(30.37, 1_000, 182 / 365), 2), 6.18);
  });

  const tiers = [
    { from: 0, rate: 5.25 },
    { from: 2_500, rate: 5.5 },
    { from: 15_000, rate: 5.75 },
  ];
  for (const [method, deposit, interest, apy] of [
    ['whole_balance', 1_000, 53.9, 5.39],
    ['whole_balance', 8_000, 452.29, 5.65],
    ['whole_balance', 20_000, 1_183.61, 5.92],
    ['marginal', 14_999.99, 841.45, 5.61],
  ] as const) {
    test(`tiers with the method ${method} pay ${interest} USD on ${deposit} USD, a yield of ${apy} %`, () => {
      const account = { tiers, compounding: 'daily', tier_method: method } as const;
      const earned = tableInterest(account, deposit, 12);
      assert.equal(roundHalfUp(earned, 2), interest);
      assert.equal(roundHalfUp(computeAnnualPercentageYield(earned, deposit, 1), 2), apy);
    });
  }

  test('computes the tier yields of the example; with the method marginal, they are the yields at the beginning of each tier', () => {
    const yieldsOf = (tier_method: InterestRules['tier_method']) =>
      computeTierYields({ tiers, compounding: 'daily', tier_method }).map((apy) => roundHalfUp(apy, 2));
    assert.deepEqual(yieldsOf('whole_balance'), [5.39, 5.65, 5.92]);
    assert.deepEqual(yieldsOf('marginal'), [5.39, 5.39, 5.61]);
  });
});

describe('published examples of 12 CFR 1030, Appendix A, for rates that change', () => {
  const rulesWith = (changes: Partial<InterestRules>): InterestRules => ({
    tiers: [{ from: 0, rate: 5 }],
    compounding: 'daily',
    tier_method: 'whole_balance',
    ...changes,
  });

  test('6 % in the first year and 6.5 % in the second pay 133.13 USD on 1,000 USD, a yield of 6.45 %', () => {
    const steps = [
      { from_month: 1, rate: 6 },
      { from_month: 13, rate: 6.5 },
    ];
    const account = rulesWith({ tiers: [{ from: 0, rate: 6 }], steps, term_months: 24 });
    // The published interest is 133.13 USD; the exact one is 133.136 USD.
    assert.ok(Math.abs(tableInterest(account, 1_000, 24) - 133.13) < 0.01);
    assert.equal(roundHalfUp(computeTierYields(account)[0]!, 2), 6.45);
  });

  test('an introductory rate of 7 % for three months before 5 % is a yield of 5.65 %', () => {
    const account = rulesWith({ introductory: { rate: 7, months: 3 } });
    // The published interest of 56.52 USD counts the first three months as 91 days; a quarter of a year has 91.25.
    assert.ok(Math.abs(tableInterest(account, 1_000, 12) - 56.52) < 0.02);
    assert.equal(roundHalfUp(computeTierYields(account)[0]!, 2), 5.65);
  });
});

describe('yields of random accounts', () => {
  const options = { seed: 4, numRuns: 400 };

  test('interest equals the sum over all compounding periods', () => {
    fc.assert(
      fc.property(rules, fc.integer({ min: 0, max: 10_000_000 }), months, (account, deposit, term) => {
        const slow = slowInterest(account, deposit, term);
        const difference = tableInterest(account, deposit, term) - slow;
        assert.ok(Math.abs(difference) <= 1e-6 + 1e-11 * slow, `${difference} of ${slow}`);
      }),
      options,
    );
  });

  test('a yield is the constant rate that, compounded once a year, pays the interest of the term', () => {
    fc.assert(
      fc.property(rate, compounding, months, (percent, times, term) => {
        const account = {
          tiers: [{ from: 0, rate: percent }],
          compounding: times,
          tier_method: 'whole_balance',
        } as const;
        const [apy] = computeTierYields({ ...account, term_months: term });
        const paid = (1 + apy! / 100) ** (term / 12) - 1;
        assert.ok(Math.abs(paid - slowInterest(account, 1, term)) < 1e-11);
      }),
      options,
    );
  });

  test('a yield rises with the rate and with the number of compounding periods, and is never below the rate', () => {
    fc.assert(
      fc.property(rate, compounding, months, (percent, times, term) => {
        const yieldOf = (ratePercent: number, name: typeof times) =>
          computeAnnualPercentageYield(computeInterestPerDollar(ratePercent, name, term), 1, term / 12);
        assert.ok(yieldOf(percent + 0.01, times) > yieldOf(percent, times));
        assert.ok(yieldOf(percent, times) >= percent - 1e-12);
        const byFrequency = compoundingFrequencies.map((name) => yieldOf(percent, name));
        for (const [at, apy] of byFrequency.entries()) {
          // `compoundingFrequencies` begins with the most frequent one.
          assert.ok(at === 0 || apy <= byFrequency[at - 1]! + 1e-12);
        }
      }),
      options,
    );
  });
});
