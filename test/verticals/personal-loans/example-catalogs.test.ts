import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { usStateCodes } from '../../../src/domain/us-states.ts';
import { meetsStateMinimumAge } from '../../../src/matching/match-tables.ts';
import type { LoanCatalog } from '../../../src/verticals/personal-loans/offer-schema.ts';
import { personalLoans } from '../../../src/verticals/personal-loans/personal-loans.ts';
import { rankLoans } from '../../../src/verticals/personal-loans/rank-loans.ts';
import { borrowerOf, compileLoans, goodBorrower, today } from '../../matching/loan-fixtures.ts';
import { randomBorrower, seededRandom } from '../../support/random-catalog.ts';
import { listOffers, readBuiltInCatalog } from '../built-in-catalogs.ts';

describe('the example catalog', () => {
  const catalog = readBuiltInCatalog<LoanCatalog>(personalLoans, 'example');
  const compiled = compileLoans(catalog);
  const totalFor = (fields: Readonly<Record<string, unknown>>) =>
    rankLoans(compiled.tables, borrowerOf(fields), today).total;

  test('the example catalog has at least 44 offers and 27 lenders', () => {
    assert.ok(listOffers(catalog).length >= 44);
    assert.ok(catalog.lenders.length >= 27);
  });

  test('a borrower with good credit gets at least 15 offers, and a borrower with bad credit and low income at most three', () => {
    assert.ok(totalFor(goodBorrower) >= 15);
    const { monthly_debt_payments: _, ...required } = goodBorrower;
    assert.ok(totalFor(required) >= 5);
    assert.ok(totalFor({ ...goodBorrower, credit_score_range: '300-579', annual_income: 20_000 }) <= 3);
  });

  test('the example catalog has a minimum age for every state with an age of majority above 18', () => {
    const rules = Object.entries(catalog.state_rules).filter(([, { min_age }]) => min_age !== undefined);
    const ages = Object.fromEntries(rules.map(([state, { min_age }]) => [state, min_age]));
    assert.deepEqual(ages, { AL: 19, MS: 21, NE: 19, PR: 21 });
    const totalAt = (state: string, birthdate: string) => totalFor({ ...goodBorrower, state, birthdate });
    assert.equal(totalAt('MS', '2005-08-02'), 0);
    assert.ok(totalAt('MS', '2005-08-01') > 5);
    assert.ok(totalAt('TX', '2008-08-01') > 5);
  });

  test('the example catalog accepts retired borrowers wherever employed borrowers are accepted', () => {
    for (const offer of listOffers(catalog)) {
      for (const criterion of offer.criteria) {
        if (criterion.field !== 'employment_status') continue;
        const admits = (value: string) => (criterion.in?.includes(value) ?? true) && !criterion.not_in?.includes(value);
        assert.ok(!admits('employed') || admits('retired'), offer.id);
      }
    }
  });
});

describe('sandbox-catalog.json', () => {
  const catalog = readBuiltInCatalog<LoanCatalog>(personalLoans, 'sandbox');
  const compiled = compileLoans(catalog);

  test('the sandbox catalog has at least 12 offers', () => {
    assert.ok(listOffers(catalog).length >= 12);
  });

  test('the sandbox catalog has at least five offers for every adult borrower with the required fields', () => {
    const random = seededRandom(11);
    for (let i = 0; i < 1_000; i++) {
      const borrower = randomBorrower(random, personalLoans, i % 2);
      const { total } = rankLoans(compiled.tables, borrower, today);
      if (meetsStateMinimumAge(compiled.tables, borrower, today)) assert.ok(total >= 5);
      else assert.equal(total, 0);
    }
  });

  for (const [id, shown, hidden] of [
    ['sandbox-india-joint', { co_borrower: true }, {}],
    ['sandbox-oscar-no-joint', {}, { co_borrower: true }],
    ['sandbox-papa-score-680', { credit_score_range: '660-699' }, { credit_score_range: '620-659' }],
    ['sandbox-sierra-state-rules', { loan_amount: 20_000 }, { loan_amount: 19_999 }],
    ['sandbox-lima-age-21', { state: 'MS', birthdate: '2005-08-01' }, { state: 'MS' }],
    ['sandbox-kilo-debt-ratio', { monthly_debt_payments: 500 }, { monthly_debt_payments: 3_500 }],
  ] as const) {
    test(`the sandbox offer ${id} is available only to borrowers who meet the condition of the offer`, () => {
      const offer = compiled.findOfferIndex(id);
      const isShown = (fields: object) => {
        const { total, orders } = rankLoans(compiled.tables, borrowerOf({ ...goodBorrower, ...fields }), today);
        assert.ok(total <= 20);
        return orders.includes(offer);
      };
      assert.deepEqual([isShown(shown), isShown(hidden)], [true, false]);
    });
  }

  test('in every US state, the sandbox catalog has at least five offers for a borrower with bad credit and no income', () => {
    const poorest = { ...goodBorrower, credit_score_range: '300-579', annual_income: 0, monthly_debt_payments: null };
    for (const state of usStateCodes) {
      for (const loan_amount of [1_000, 100_000]) {
        const borrower = borrowerOf({ ...poorest, loan_amount, state });
        assert.ok(rankLoans(compiled.tables, borrower, today).total >= 5, state);
      }
    }
  });
});
