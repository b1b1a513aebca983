import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { explainOffers } from '../../src/matching/explain-offers.ts';
import type { OfferCriterion } from '../../src/matching/match-tables.ts';
import { builtInVerticals } from '../../src/verticals/built-in-verticals.ts';
import type { LoanCatalog } from '../../src/verticals/personal-loans/offer-schema.ts';
import { personalLoans } from '../../src/verticals/personal-loans/personal-loans.ts';
import { rankLoans } from '../../src/verticals/personal-loans/rank-loans.ts';
import { borrowerOf, catalogOf, compileLoans, goodBorrower, plainBand, plainOffer, today } from './loan-fixtures.ts';

// Examples of the matching rules. `match-reference.test.ts` compares all rules and sort orders with a reference implementation for
// random borrowers.

/**
 * Returns the mismatch reasons, as `reason field`, of the only offer of a catalog, for `goodBorrower` with changed fields.
 * Asserts that the offer matches if and only if there is no mismatch reason.
 */
async function reasonsFor(catalog: LoanCatalog, fields: object = {}): Promise<string> {
  const { tables } = compileLoans(catalog);
  const borrower = borrowerOf({ ...goodBorrower, ...fields });
  const { reasons } = await explainOffers(
    builtInVerticals.getProduct(tables),
    tables,
    personalLoans,
    borrower,
    today,
    null,
  );
  assert.equal(rankLoans(tables, borrower, today).total, reasons.length === 0 ? 1 : 0);
  return reasons.map(({ reason, field }) => `${reason} ${field}`).join(', ');
}

describe('eligibility', () => {
  for (const [criterion, met, unmet] of [
    [{ field: 'state', in: ['CA', 'NY'] }, { state: 'NY' }, { state: 'TX' }],
    [{ field: 'state', not_in: ['CA'] }, { state: 'NY' }, { state: 'CA' }],
    [
      { field: 'citizenship_status', in: ['citizen'] },
      { citizenship_status: 'citizen' },
      { citizenship_status: 'visa' },
    ],
    [{ field: 'loan_term_months', not_in: [84] }, { loan_term_months: 36 }, { loan_term_months: 84 }],
    [{ field: 'co_borrower', in: [true] }, { co_borrower: true }, { co_borrower: false }],
    [{ field: 'annual_income', min: 50_000 }, { annual_income: 50_000 }, { annual_income: 49_999 }],
    [{ field: 'annual_income', max: 60_000 }, { annual_income: 60_000 }, { annual_income: 60_001 }],
    [{ field: 'birthdate', min_age: 21 }, { birthdate: '2005-08-01' }, { birthdate: '2005-08-02' }],
  ] as const) {
    test(`matches borrowers by the criterion ${JSON.stringify(criterion)}`, async () => {
      const catalog = catalogOf([plainOffer({ criteria: [criterion as unknown as OfferCriterion] })]);
      const { field } = criterion;
      assert.equal(await reasonsFor(catalog, met), '');
      assert.equal(await reasonsFor(catalog, unmet), `not_accepted ${field}`);
      if (field !== 'state') assert.equal(await reasonsFor(catalog, { [field]: null }), `not_told ${field}`);
    });
  }

  const twoCriteria = {
    criteria: [
      { field: 'state', in: ['CA', 'NY'] },
      { field: 'state', not_in: ['NY'] },
    ],
  };
  const inCalifornia = (rules: object) => ({ state_rules: { CA: rules } });
  const adults = inCalifornia({ min_age: 21 });
  const amounts = { amount: { min: 5_000, max: 40_000 }, bands: { '700-749': plainBand({ max_amount: 20_000 }) } };
  const priced = (max: number, origination_fee_percent: number) => ({
    bands: { '700-749': plainBand({ note_rate_percent: { min: 30, max }, origination_fee_percent }) },
  });
  const debtLimit = (max_debt_to_income_percent: number, ...term_months: number[]) =>
    term_months.length === 0 ? { max_debt_to_income_percent } : { max_debt_to_income_percent, term_months };

  for (const [expected, offer, fields = {}, catalog = {}] of [
    // An offer requires the borrower to meet all criteria on a field.
    ['', twoCriteria],
    ['not_accepted state', twoCriteria, { state: 'NY' }],
    // The minimum age of a state does not apply to a borrower without a birthdate.
    ['not_accepted birthdate', {}, { birthdate: '2005-08-02' }, adults],
    ['', {}, { birthdate: '2005-08-01' }, adults],
    ['', {}, { birthdate: '2005-08-02', state: 'NY' }, adults],
    ['', {}, {}, adults],
    // The amount must be within the ranges of both the offer and the credit band.
    ['amount_too_low loan_amount', amounts, { loan_amount: 4_999 }],
    ['', amounts, { loan_amount: 5_000 }],
    ['', amounts, { loan_amount: 20_000 }],
    ['amount_too_high loan_amount', amounts, { loan_amount: 20_001 }],
    ['amount_too_high loan_amount', { amount: { min: 1_000, max: 9_000 } }],
    ['amount_too_low_in_state state', {}, {}, inCalifornia({ min_amount: 15_001 })],
    ['apr_above_cap state', {}, {}, inCalifornia({ max_apr_percent: 11.99 })],
    // An APR of exactly 36 % is allowed. A fee raises the APR.
    ['', priced(36, 0)],
    ['', priced(35, 0)],
    ['apr_above_cap state', priced(35, 2)],
    // If an offer excludes the credit band, its prices are not checked.
    ['not_accepted credit_score_range', { bands: { '800+': plainBand({ max_amount: 1_000 }) }, ...debtLimit(1) }],
    // 15,000 USD at 11 % over 36 months cost 491.08 USD a month. 30 % of an income of 7,083.33 USD a month are 2,125 USD.
    ['', debtLimit(30), { monthly_debt_payments: 1_633 }],
    ['debt_to_income monthly_debt_payments', debtLimit(30), { monthly_debt_payments: 1_634 }],
    ['not_told monthly_debt_payments', debtLimit(30), { monthly_debt_payments: null }],
    ['not_told annual_income', debtLimit(30), { annual_income: null }],
    // The payment over 36 months is within the limit; the payments over 12 and 24 months are not.
    ['', debtLimit(30, 24, 36)],
    ['debt_to_income monthly_debt_payments', debtLimit(30, 12, 24)],
    ['apr_above_cap state', debtLimit(30), {}, inCalifornia({ max_apr_percent: 5 })],
    [
      'apr_above_cap state, debt_to_income monthly_debt_payments',
      debtLimit(20),
      {},
      inCalifornia({ max_apr_percent: 5 }),
    ],
  ] as const satisfies readonly (readonly [expected: string, offer: object, fields?: object, catalog?: object])[]) {
    test(`the mismatch reasons are "${expected}" for ${JSON.stringify([offer, fields, catalog])}`, async () => {
      assert.equal(await reasonsFor(catalogOf([plainOffer(offer)], catalog), fields), expected);
    });
  }

  for (const [joint_applications, expected] of [
    ['accepted', ['', '', '']],
    ['required', ['not_told co_borrower', 'not_accepted co_borrower', '']],
    ['not_accepted', ['', '', 'not_accepted co_borrower']],
  ] as const) {
    test(`returns the mismatch reason of joint_applications ${joint_applications} for each value of co_borrower`, async () => {
      const catalog = catalogOf([plainOffer({ joint_applications })]);
      const reasons = [{}, { co_borrower: false }, { co_borrower: true }].map((fields) => reasonsFor(catalog, fields));
      assert.deepEqual(await Promise.all(reasons), expected);
    });
  }

  test('excludes borrowers in credit bands below the minimum credit score', async () => {
    const names = ['620-659', '660-699', '700-749', '750-799', '800+'];
    const bands = Object.fromEntries(names.map((name) => [name, plainBand()]));
    for (const [min_credit_score, excluded] of [
      [620, 0],
      [659, 0],
      [660, 1],
      [850, 4],
    ] as const) {
      const catalog = catalogOf([plainOffer({ bands, min_credit_score })]);
      const reasons = names.map((credit_score_range) => reasonsFor(catalog, { credit_score_range }));
      const expected = names.map((_, at) => (at < excluded ? 'not_accepted credit_score_range' : ''));
      assert.deepEqual(await Promise.all(reasons), expected);
    }
  });

  test('applies the rules of a lender only to the offers of that lender', () => {
    const catalog = catalogOf([
      plainOffer({ id: 'a', state_rules: { CA: { min_amount: 20_000 } } }),
      plainOffer({ id: 'b' }),
    ]);
    catalog.lenders.push({
      name: 'Another',
      logo: 'another.svg',
      state_rules: { CA: { max_apr_percent: 5 } },
      offers: [plainOffer({ id: 'c' }), plainOffer({ id: 'd', state_rules: { NY: { min_amount: 20_000 } } })],
    });
    const { tables } = compileLoans(catalog);
    const shownIn = (state: string) =>
      [...new Set(rankLoans(tables, borrowerOf({ ...goodBorrower, state }), today).orders)].sort();
    // The offers are numbered in the order of their ids.
    assert.deepEqual([shownIn('CA'), shownIn('NY')], [[1], [0, 1, 2]]);
  });

  test('a borrower whose loan amount, credit band or state is missing matches no offer', () => {
    const { tables } = compileLoans(catalogOf([plainOffer()]));
    for (const missing of ['loan_amount', 'credit_score_range', 'state']) {
      const ranked = rankLoans(tables, borrowerOf({ ...goodBorrower, [missing]: null }), today);
      assert.deepEqual(ranked, { total: 0, availableOnly: false, orders: new Uint16Array(0) });
    }
  });
});
