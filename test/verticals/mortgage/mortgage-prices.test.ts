import assert from 'node:assert/strict';
import { test } from 'node:test';
import { monthlyPaymentPerDollar } from '../../../src/verticals/common/loan-math.ts';
import { PaymentStream, solveAnnualPercentageRate } from '../../../src/verticals/mortgage/annual-percentage-rate.ts';
import { seededRandom } from '../../support/random-catalog.ts';
import {
  borrowerOf,
  buyer,
  compileMortgages,
  mortgageCatalogOf,
  plainMortgage,
  viewOffers,
} from './mortgage-fixtures.ts';
import { bisectAprPercent, listMonthlyRates } from './reference-mortgages.ts';

/** Returns a stream of equal payments, each list with its amount and number, one after the other. */
function streamOf(...runs: readonly (readonly [amount: number, months: number])[]): PaymentStream {
  const stream = new PaymentStream();
  let start = 0;
  for (const [amount, months] of runs) {
    stream.add(amount, months, start);
    start += months;
  }
  return stream;
}

// Examples of 12 CFR 1026, Appendix J (c), and the payment of docs/verticals/mortgage.md.
test('computes the published APRs and payments', () => {
  const aprOf = (financed: number, stream: PaymentStream) => solveAnnualPercentageRate(financed, stream).toFixed(2);
  assert.equal(aprOf(5_000, streamOf([230, 24])), '9.69');
  assert.equal(aprOf(5_000, streamOf([250, 1], [230, 23])), '10.08');
  assert.equal(aprOf(5_000, streamOf([230, 23], [280, 1])), '10.50');
  const longFirstPeriod = { months: 1, monthFraction: 19 / 30 };
  assert.equal(solveAnnualPercentageRate(6_000, streamOf([200, 36]), longFirstPeriod).toFixed(2), '11.82');
  assert.equal((162_000 * monthlyPaymentPerDollar(3.875, 360)).toFixed(2), '761.78');
});

test('the APR of random payment streams and first periods matches the result of bisection', () => {
  const random = seededRandom(2);
  let compared = 0;
  for (let draw = 0; draw < 300; draw++) {
    const [early, late] = [1 + Math.floor(random() * 60), 1 + Math.floor(random() * 300)];
    const [first, second] = [500 + random() * 2_000, 500 + random() * 2_000];
    const payments = [...Array(early).fill(first), ...Array(late).fill(second)] as number[];
    const financed = payments.reduce((sum, each) => sum + each, 0) * (0.3 + 0.65 * random());
    const firstPeriod =
      random() < 0.5 ? { months: 1, monthFraction: 0 } : { months: Math.floor(random() * 4), monthFraction: random() };
    const expected = bisectAprPercent(financed, payments, firstPeriod);
    if (expected > 100) continue;
    compared++;
    const actual = solveAnnualPercentageRate(financed, streamOf([first, early], [second, late]), firstPeriod);
    assert.ok(Math.abs(actual - expected) < 1e-6, `${actual} instead of ${expected}`);
  }
  assert.ok(compared > 200, `${compared} streams`);
});

// The example of docs/verticals/mortgage.md#adjustable-loans.
test('an adjustable loan has the documented payments', () => {
  const offer = plainMortgage({
    terms: { '360': { rate_percent: 5.875 } },
    adjustable: {
      ...{ fixed_months: 84, adjustment_months: 6, index_percent: 3.75, margin_percent: 2.75 },
      caps_percent: { first: 5, periodic: 1, lifetime: 5 },
    },
  });
  const borrower = borrowerOf({ ...buyer, down_payment: 100_000 });
  const [view] = viewOffers(compileMortgages(mortgageCatalogOf([offer])), [0], borrower);
  assert.deepEqual(view!.mortgage.adjustable, {
    index_percent: 3.75,
    margin_percent: 2.75,
    fully_indexed_rate: 6.5,
    caps_percent: { first: 5, periodic: 1, lifetime: 5 },
    adjustment_months: 6,
    payments: [
      { from_month: 1, rate: 5.875, payment: 1_774.61 },
      { from_month: 85, rate: 6.5, payment: 1_875.69 },
    ],
  });
});

test('an adjustable loan reaches its caps in several steps, upwards and downwards', () => {
  for (const [indexPercent, lastRate] of [
    [9, 11.5],
    [0.5, 3.25],
  ] as const) {
    const adjustable = {
      fixed_months: 60,
      adjustment_months: 6,
      index_percent: indexPercent,
      margin_percent: 2.75,
      caps_percent: { first: 1.5, periodic: 1, lifetime: 5 },
    } as const;
    const offer = plainMortgage({ adjustable });
    assert.equal(listMonthlyRates(offer, 6.5, 360).at(-1), lastRate);
    const compiled = compileMortgages(mortgageCatalogOf([offer]));
    const borrower = borrowerOf({ ...buyer, down_payment: 100_000 });
    const [view] = viewOffers(compiled, [0], borrower);
    let balance = 300_000;
    const rates = listMonthlyRates(offer, 6.5, 360);
    const payments = rates.map((rate, month) => {
      const monthly = rate / 1_200;
      const payment = (balance * monthly) / (1 - (1 + monthly) ** (month - 360));
      balance = balance * (1 + monthly) - payment;
      return payment;
    });
    assert.equal(view!.apr_range!.min, Math.round(100 * bisectAprPercent(300_000, payments)) / 100);
  }
});
