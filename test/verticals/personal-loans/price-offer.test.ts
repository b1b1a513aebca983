import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { LoanOffer } from '../../../src/verticals/personal-loans/offer-schema.ts';
import {
  calculatePrice,
  createEmptyLoanPrice,
  readApplicant,
} from '../../../src/verticals/personal-loans/price-offer.ts';
import { rankLoans } from '../../../src/verticals/personal-loans/rank-loans.ts';
import {
  borrowerOf,
  catalogOf,
  compileLoans,
  goodBorrower,
  plainBand,
  plainOffer,
  quote,
  today,
} from '../../matching/loan-fixtures.ts';
import { explainReasons } from '../../matching/priced-rankings.ts';

function quoteOf(offer: Partial<LoanOffer>, fields: object = {}) {
  return quote(compileLoans(catalogOf([plainOffer(offer)])), 0, borrowerOf({ ...goodBorrower, ...fields }));
}

const inBand = (changes: Partial<LoanOffer['bands'][string]>) => ({ bands: { '700-749': plainBand(changes) } });

describe('payment in a quote', () => {
  test('quotes the published loan example of a lender to the cent', () => {
    const published = { note_rate_percent: { min: 13.94, max: 13.94 }, origination_fee_percent: 5 };
    const quoted = quoteOf(inBand(published), { loan_amount: 10_000 });
    assert.deepEqual(quoted?.apr_range, { min: 17.59, max: 17.59 });
    assert.equal(quoted?.monthly_payment_estimate, 341.48);
  });
});

// `match-reference.test.ts` compares terms and amounts with a reference implementation for random offers and borrowers.
test('the debt-to-income limit determines the largest amount of a quote', () => {
  // 30 % of 7,083.33 USD less 1,500 USD are 625 USD a month. At 11 % over 36 months, 625 USD a month repay 19,090 USD.
  assert.equal(quoteOf({ max_debt_to_income_percent: 30 })?.loan_amount_range.max, 19_090);
});

describe('payments exactly at the debt-to-income limit', () => {
  // Without interest over 12 months, 12,000 USD cost 1,000 a month. 57 % of 60,000 USD a year are 2,850 a month.
  const interestFree = inBand({ note_rate_percent: { min: 0, max: 0 } });
  const offer = { max_debt_to_income_percent: 57, term_months: [12], ...interestFree };
  const owing = (monthly_debt_payments: number, loan_amount = 12_000) => ({
    annual_income: 60_000,
    loan_amount,
    monthly_debt_payments,
  });

  test('allows a payment exactly at the debt-to-income limit, and rejects one more dollar of debt or loan', () => {
    assert.notEqual(quoteOf(offer, owing(1_850)), null);
    assert.equal(quoteOf(offer, owing(1_851)), null);
    assert.equal(quoteOf(offer, owing(1_850, 12_001)), null);
    assert.equal(quoteOf(offer, owing(1_850, 1_000))?.loan_amount_range.max, 12_000);
  });

  test('an offer whose payment is exactly at the debt-to-income limit is ranked and has no mismatch reason', async () => {
    const many = Array.from({ length: 60 }, (_, at) => plainOffer({ ...offer, id: `o${at}` }));
    const compiled = compileLoans(catalogOf(many));
    for (const [debt, total, reasons] of [
      [1_850, 60, []],
      [1_851, 0, ['debt_to_income monthly_debt_payments 60']],
    ] as const) {
      const borrower = borrowerOf({ ...goodBorrower, ...owing(debt) });
      assert.equal(rankLoans(compiled.tables, borrower, today).total, total);
      assert.deepEqual(await explainReasons(compiled, borrower, today), [total, ...reasons]);
    }
  });

  test('a payment exactly at the debt-to-income limit is allowed (random limits, incomes and debts)', () => {
    // Limits are multiples of 0.25 %, and incomes are multiples of 960 USD a year (80 USD a month), so every limit is a multiple of
    // 0.20 USD a month. A loan of 21 USD over 105 months costs 0.20 USD a month. Rounding makes some computed payments slightly too high.
    const drawn = fc.record({
      quarters: fc.integer({ min: 4, max: 400 }),
      debt: fc.integer({ min: 0, max: 5_000 }),
      leastRoom: fc.integer({ min: 48, max: 1_900 }),
    });
    fc.assert(
      fc.property(drawn, ({ quarters, debt, leastRoom }) => {
        const incomes = Math.ceil((leastRoom + debt * 5) / quarters);
        const most = (quarters * incomes - debt * 5) * 21;
        const limited = { ...offer, term_months: [105], max_debt_to_income_percent: quarters / 4 };
        const quoted = (loan_amount: number) =>
          quoteOf(limited, { annual_income: incomes * 960, monthly_debt_payments: debt, loan_amount });
        assert.equal(quoted(1_000)?.loan_amount_range.max, most);
        assert.notEqual(quoted(most), null);
        assert.equal(quoted(most + 1), null);
      }),
      { numRuns: 125 },
    );
  });

  test('rounding does not exclude a payment exactly at the debt-to-income limit', () => {
    const { tables } = compileLoans(catalogOf([plainOffer({ ...offer, max_debt_to_income_percent: 100 })]));
    const borrower = readApplicant(tables, borrowerOf(goodBorrower))!;
    const price = createEmptyLoanPrice();
    for (let amount = 1_000; amount < 2_000; amount++) {
      const applicant = { ...borrower, monthlyDebt: 0, amount, annualIncome: amount };
      assert.ok(calculatePrice(tables, 0, applicant, price));
      assert.equal(price.amountMax, amount);
    }
  });
});
