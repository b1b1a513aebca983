import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { roundHalfUp } from '../../../src/domain/money.ts';
import { aprPercent, paymentFactor, solveAprPercent } from '../../../src/verticals/loan-math.ts';

/**
 * Worked examples that others have published, computed here to the cent and to the hundredth of a percent. None was made
 * up or adapted. The regulation's figures were read in the public tests of FSharp.Finance.Personal, which quote it by paragraph,
 * all others on the pages named.
 */

const monthlyPayment = (principal: number, ratePercent: number, months: number) =>
  roundHalfUp(principal * paymentFactor(ratePercent, months), 2);

describe('Upgrade, "Are there any fees?" (upgrade.zendesk.com/hc/en-us/articles/115000319507)', () => {
  // 10,000 USD over 36 months at 13.94 % with a fee of 5 %: 9,500 received, 341.48 a month, 12,293.46 in all, 17.59 % APR.
  test('the example of Upgrade costs 341.48 USD per month', () => {
    assert.equal(monthlyPayment(10_000, 13.94, 36), 341.48);
  });

  test('the unrounded payments of the example of Upgrade add up to 12,293.46 USD', () => {
    assert.equal(roundHalfUp(10_000 * paymentFactor(13.94, 36) * 36, 2), 12_293.46);
  });

  test('the example of Upgrade has an APR of 17.59 %, from its rates and from its unrounded payment', () => {
    assert.equal(roundHalfUp(aprPercent(13.94, 5, 36), 2), 17.59);
    assert.equal(roundHalfUp(solveAprPercent(9_500, 10_000 * paymentFactor(13.94, 36), 36), 2), 17.59);
  });
});

// consumerfinance.gov/rules-policy/regulations/1026/j/
test('Regulation Z, 12 CFR part 1026, appendix J, example (c)(1)(i): 24 payments of 230 for 5,000 USD have an APR of 9.69 %', () => {
  assert.equal(roundHalfUp(solveAprPercent(5_000, 230, 24), 2), 9.69);
});

describe('the loan chart to Oklahoma Statutes 14A section 3-508B, effective 1 July 2014', () => {
  // fdocuments.us, "3-508B Loan Chart". Maximum charges on small loans repaid in equal monthly payments: advance, payments, each payment, APR.
  for (const [advance, months, payment, apr] of [
    [10, 1, 12, 240],
    [20, 2, 12, 156.79],
    [30, 3, 12, 116.41],
    [40, 4, 12, 92.57],
    [50, 5, 12, 76.83],
    [60, 6, 12, 65.66],
    [70, 7, 12, 57.33],
  ] as const) {
    test(`${advance} USD repaid in ${months} monthly payments of ${payment} USD have an APR of ${apr} %`, () => {
      assert.equal(roundHalfUp(solveAprPercent(advance, payment, months), 2), apr);
    });
  }
});

for (const { source, rows } of [
  {
    source:
      'Navy Federal, refinance rates and terms (navyfederal.org/loans-cards/student-loans/resources/refinance-rates-and-terms.html)',
    rows: [
      [4.9, 60, 188.25],
      [11.25, 60, 218.67],
      [5.45, 120, 108.28],
      [11.6, 120, 141.17],
      [5.95, 180, 84.12],
      [11.7, 180, 118.09],
      [4.6, 60, 186.89],
      [10.5, 60, 214.94],
      [5.8, 120, 110.02],
      [11, 120, 137.75],
      [6.35, 180, 86.29],
      [11.8, 180, 118.73],
    ],
  },
  {
    source: 'COFCU, refinance rates and terms (partner.lendkey.com/cofcu/refinance/rates_and_terms), of 26 May 2017',
    rows: [
      [3.77, 180, 72.82],
      [9.77, 180, 106.06],
    ],
  },
  {
    source: 'CU Grad U, loan cost example (cugradu.lendkey.com/home/rates_and_fees)',
    rows: [
      [3.71, 180, 72.52],
      [6.16, 180, 85.25],
    ],
  },
] as const) {
  describe(source, () => {
    // 10,000 USD without a fee: APR, months, payment.
    for (const [apr, months, payment] of rows) {
      test(`10,000 USD at ${apr} % APR cost ${months} monthly payments of ${payment} USD`, () => {
        assert.equal(monthlyPayment(10_000, aprPercent(apr, 0, months), months), payment);
        // The payment was rounded, so the rate lies between those of half a cent less and half a cent more.
        assert.ok(solveAprPercent(10_000, payment - 0.005, months) <= apr);
        assert.ok(apr <= solveAprPercent(10_000, payment + 0.005, months));
      });
    }
  });
}
