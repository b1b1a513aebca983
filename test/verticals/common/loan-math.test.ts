import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { roundHalfUp } from '../../../src/domain/money.ts';
import {
  computeAprPercent,
  monthlyPaymentPerDollar,
  solveAprPercent,
} from '../../../src/verticals/common/loan-math.ts';

const months = fc.integer({ min: 1, max: 480 });
const rate = fc.double({ min: 0.01, max: 60, noNaN: true });

const monthlyPayment = (principal: number, noteRatePercent: number, term: number) =>
  principal * monthlyPaymentPerDollar(noteRatePercent, term);

test('the present value of the payments at the APR equals the received amount', () => {
  const net = 10_000;
  fc.assert(
    fc.property(fc.double({ min: 1.001, max: 4, noNaN: true }), months, (repaidShare, term) => {
      const payment = (net * repaidShare) / term;
      const monthlyRate = solveAprPercent(net, payment, term) / 1_200;
      let worth = 0;
      for (let month = term; month > 0; month--) worth = (worth + payment) / (1 + monthlyRate);
      assert.ok(Math.abs(worth / net - 1) < 1e-9, `${worth} is not ${net}`);
    }),
    { numRuns: 500 },
  );
});

test('the payments repay the loan exactly to the last cent', () => {
  fc.assert(
    fc.property(rate, fc.integer({ min: 1, max: 120 }), (percent, term) => {
      const payment = monthlyPayment(10_000, percent, term);
      let balance = 10_000;
      for (let month = 0; month < term; month++) balance += (balance * percent) / 1_200 - payment;
      assert.ok(Math.abs(balance) < 0.001, `${balance} left`);
    }),
  );
});

test('without interest, a payment is the amount divided by the term; without a fee, the APR equals the note rate', () => {
  assert.equal(monthlyPayment(1_200, 0, 12), 100);
  assert.equal(computeAprPercent(13.94, 0, 36), 13.94);
});

test('the APR is 0 if the sum of the payments does not exceed the received amount', () => {
  assert.equal(solveAprPercent(1_200, 100, 12), 0);
  assert.equal(solveAprPercent(1_200, 50, 12), 0);
});

/**
 * Loan examples from published sources. Payments must be correct to the cent, and rates to a hundredth of a percent. The figures of
 * Regulation Z come from the public tests of FSharp.Finance.Personal, which cite the paragraphs of the regulation. All other figures come
 * from the pages that the tests name.
 */
describe('published loan examples', () => {
  test('the payment and APR equal the loan example of the lender Upgrade (upgrade.zendesk.com/hc/en-us/articles/115000319507)', () => {
    // 10,000 USD over 36 months at 13.94 % with a fee of 5 %: 9,500 received, 341.48 a month, 12,293.46 in all, 17.59 % APR.
    const payment = monthlyPayment(10_000, 13.94, 36);
    assert.equal(roundHalfUp(payment, 2), 341.48);
    assert.equal(roundHalfUp(payment * 36, 2), 12_293.46);
    assert.equal(roundHalfUp(computeAprPercent(13.94, 5, 36), 2), 17.59);
    assert.equal(roundHalfUp(solveAprPercent(9_500, payment, 36), 2), 17.59);
  });

  // Columns: loan amount, number of monthly payments, payment, APR in percent.
  for (const [source, rows] of [
    // consumerfinance.gov/rules-policy/regulations/1026/j/
    ['Regulation Z, 12 CFR part 1026, appendix J, example (c)(1)(i)', [[5_000, 24, 230, 9.69]]],
    [
      'loan chart to Oklahoma Statutes 14A section 3-508B, effective 1 July 2014 (fdocuments.us, "3-508B Loan Chart")',
      [
        [10, 1, 12, 240],
        [40, 4, 12, 92.57],
        [70, 7, 12, 57.33],
      ],
    ],
  ] as const) {
    test(source, () => {
      for (const [amount, term, payment, apr] of rows) {
        assert.equal(roundHalfUp(solveAprPercent(amount, payment, term), 2), apr);
      }
    });
  }

  // Loans of 10,000 USD without a fee. Columns: APR in percent, number of monthly payments, payment.
  for (const [source, rows] of [
    [
      'Lender Navy Federal, refinance rates and terms (navyfederal.org/loans-cards/student-loans/resources/refinance-rates-and-terms.html)',
      [
        [4.9, 60, 188.25],
        [11.25, 60, 218.67],
        [5.45, 120, 108.28],
        [11.6, 120, 141.17],
        [5.95, 180, 84.12],
        [11.8, 180, 118.73],
      ],
    ],
  ] as const) {
    test(source, () => {
      for (const [apr, term, payment] of rows) {
        assert.equal(roundHalfUp(monthlyPayment(10_000, computeAprPercent(apr, 0, term), term), 2), payment);
        // The published payment is rounded, so the APR lies between the APRs for half a cent less and for half a cent more.
        assert.ok(solveAprPercent(10_000, payment - 0.005, term) <= apr);
        assert.ok(apr <= solveAprPercent(10_000, payment + 0.005, term));
      }
    });
  }
});
