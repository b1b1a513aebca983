import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { roundHalfUp } from '../../src/domain/money.ts';
import { aprPercent, paymentFactor, solveAprPercent } from '../../src/verticals/loan-math.ts';

const months = fc.integer({ min: 1, max: 480 });
const rate = fc.double({ min: 0.01, max: 60, noNaN: true });

const monthlyPayment = (principal: number, noteRatePercent: number, term: number) =>
  principal * paymentFactor(noteRatePercent, term);

test('computes a payment of 341.48 USD per month and an APR of 17.59 % for the published example', () => {
  assert.equal(roundHalfUp(monthlyPayment(10_000, 13.94, 36), 2), 341.48);
  assert.equal(roundHalfUp(aprPercent(13.94, 5, 36), 2), 17.59);
});

test('computes the rate from which a payment was computed', () => {
  fc.assert(
    fc.property(fc.double({ min: 100, max: 1e6, noNaN: true }), rate, months, (net, percent, term) => {
      const solved = solveAprPercent(net, monthlyPayment(net, percent, term), term);
      assert.ok(Math.abs(solved - percent) < 1e-8, `${solved} is not ${percent}`);
    }),
    { numRuns: 2_000 },
  );
});

test('the present value of the payments at the APR equals the received amount', () => {
  fc.assert(
    fc.property(
      fc.double({ min: 100, max: 1e6, noNaN: true }),
      fc.double({ min: 1.001, max: 4, noNaN: true }),
      months,
      (net, repaidShare, term) => {
        const payment = (net * repaidShare) / term;
        const monthlyRate = solveAprPercent(net, payment, term) / 1_200;
        let worth = 0;
        for (let month = term; month > 0; month--) worth = (worth + payment) / (1 + monthlyRate);
        assert.ok(Math.abs(worth / net - 1) < 1e-9, `${worth} is not ${net}`);
      },
    ),
    { numRuns: 2_000 },
  );
});

test('the APR increases with the payment and decreases with the received amount', () => {
  const more = fc.double({ min: 1.001, max: 2, noNaN: true });
  fc.assert(
    fc.property(rate, months, more, (percent, term, factor) => {
      const payment = monthlyPayment(10_000, percent, term);
      const apr = solveAprPercent(10_000, payment, term);
      assert.ok(solveAprPercent(10_000, payment * factor, term) > apr);
      assert.ok(solveAprPercent(10_000 * factor, payment, term) < apr);
    }),
    { numRuns: 1_000 },
  );
});

test('the APR increases with the fee and with the note rate', () => {
  const fees = fc.tuple(fc.double({ min: 0, max: 19, noNaN: true }), fc.double({ min: 0.01, max: 1, noNaN: true }));
  fc.assert(
    fc.property(rate, fees, months, (note, [fee, more], term) => {
      assert.ok(aprPercent(note, fee + more, term) > aprPercent(note, fee, term));
      assert.ok(aprPercent(note + more, fee, term) > aprPercent(note, fee, term));
    }),
    { numRuns: 1_000 },
  );
});

test('the payments repay the loan to the last cent', () => {
  fc.assert(
    fc.property(rate, fc.integer({ min: 1, max: 120 }), (percent, term) => {
      const payment = monthlyPayment(10_000, percent, term);
      let balance = 10_000;
      for (let month = 0; month < term; month++) balance += (balance * percent) / 1_200 - payment;
      assert.ok(Math.abs(balance) < 0.001, `${balance} left`);
    }),
  );
});

test('a payment without interest is an equal share of the loan', () => {
  assert.equal(monthlyPayment(1_200, 0, 12), 100);
});

test('the APR of a loan without a fee equals the note rate', () => {
  assert.equal(aprPercent(13.94, 0, 36), 13.94);
});

test('a fee raises the APR more for a shorter loan', () => {
  fc.assert(
    fc.property(
      rate,
      fc.double({ min: 0.5, max: 20, noNaN: true }),
      fc.integer({ min: 1, max: 119 }),
      (note, fee, term) => {
        const shorter = aprPercent(note, fee, term);
        assert.ok(shorter > aprPercent(note, fee, term + 1));
        assert.ok(shorter > note);
      },
    ),
  );
});

test('payments that add up to no more than the received amount have an APR of 0', () => {
  assert.equal(solveAprPercent(1_200, 100, 12), 0);
  assert.equal(solveAprPercent(1_200, 50, 12), 0);
});
