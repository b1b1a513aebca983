import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { CatalogCriterion } from '../../src/catalogs/catalog-schema.ts';
import { type CompiledCatalog, compileCatalog } from '../../src/catalogs/compile-catalog.ts';
import { parseCatalog } from '../../src/catalogs/parse-catalog.ts';
import { type SortOrder, sortOrders } from '../../src/matching/matcher.ts';
import { absentValue } from '../../src/verticals/field-vector.ts';
import type { LoanCatalog, LoanOffer } from '../../src/verticals/personal-loans/offer-schema.ts';
import { personalLoans } from '../../src/verticals/personal-loans/personal-loans.ts';
import { rankLoans } from '../../src/verticals/personal-loans/rank-loans.ts';
import { equipmentLeases } from '../support/equipment-leases.ts';
import { generateCatalog, randomBorrower, seededRandom } from '../support/random-catalog.ts';
import { borrowerOf, catalogOf, goodBorrower, plainBand, plainOffer, quote, today } from './loan-fixtures.ts';
import { referenceMatches, referenceOrder } from './reference-matcher.ts';

function compiled(catalog: LoanCatalog): CompiledCatalog {
  const parsed = parseCatalog(JSON.stringify(catalog), personalLoans);
  assert.ok(parsed.ok, parsed.ok ? '' : parsed.errors.join('\n'));
  return compileCatalog(parsed.catalog, personalLoans, { mode: 'live', cdnUrl: () => 'https://cdn.example' });
}

function orderOf(catalog: CompiledCatalog, borrower: number[], sort: SortOrder, on = today): string[] {
  const { orders } = rankLoans(catalog.tables, borrower, on);
  const places = orders.length / sortOrders.length;
  const from = sortOrders.indexOf(sort) * places;
  return [...orders.subarray(from, from + Math.min(places, 20))].map((offer) => catalog.offers[offer]!.id);
}

/** Whether an offer changed this way is made to a good borrower with these fields changed. */
function matches(
  offer: Partial<LoanOffer>,
  fields: object = {},
  catalog: Partial<LoanCatalog> = {},
  on = today,
): boolean {
  const compiledCatalog = compiled(catalogOf([plainOffer(offer)], catalog));
  return rankLoans(compiledCatalog.tables, borrowerOf({ ...goodBorrower, ...fields }), on).total === 1;
}

const meets = (criterion: CatalogCriterion, fields: object, on = today) =>
  matches({ criteria: [criterion] }, fields, {}, on);

describe('eligibility', () => {
  test('includes an offer without criteria', () => {
    assert.ok(matches({}));
  });

  test('includes an offer only for values listed in its criterion', () => {
    assert.ok(meets({ field: 'state', in: ['CA', 'NY'] }, {}));
    assert.ok(!meets({ field: 'state', in: ['NY'] }, {}));
  });

  test('excludes an offer for values listed in not_in', () => {
    assert.ok(!meets({ field: 'state', not_in: ['CA'] }, {}));
    assert.ok(meets({ field: 'state', not_in: ['NY'] }, {}));
  });

  test('requires all criteria on a field', () => {
    const criteria = [
      { field: 'state', in: ['CA', 'NY'] },
      { field: 'state', not_in: ['NY'] },
    ];
    assert.ok(matches({ criteria }));
    assert.ok(!matches({ criteria }, { state: 'NY' }));
  });

  test('a range criterion includes both limits', () => {
    const criterion = { field: 'annual_income', min: 50_000, max: 60_000 };
    const incomes = [49_999, 50_000, 60_000, 60_001];
    assert.deepEqual(
      incomes.map((annual_income) => meets(criterion, { annual_income })),
      [false, true, true, false],
    );
  });

  test('a borrower reaches the minimum age on the birthday', () => {
    const criterion = { field: 'birthdate', min_age: 21 };
    assert.ok(meets(criterion, { birthdate: '2005-08-01' }, 20260801));
    assert.ok(!meets(criterion, { birthdate: '2005-08-02' }, 20260801));
  });

  for (const [joint_applications, expected] of [
    ['accepted', [true, true, true]],
    ['required', [false, false, true]],
    ['not_accepted', [true, true, false]],
  ] as const) {
    test(`matches absent, false and true co_borrower with joint_applications ${joint_applications}`, () => {
      assert.deepEqual(
        [{}, { co_borrower: false }, { co_borrower: true }].map((fields) => matches({ joint_applications }, fields)),
        expected,
      );
    });
  }

  test('applies criteria on the co-borrower', () => {
    const criterion = { field: 'co_borrower', in: [true] };
    assert.ok(meets(criterion, { co_borrower: true }));
    assert.ok(!meets(criterion, { co_borrower: false }));
    assert.ok(!meets(criterion, {}));
  });

  for (const [field, met, unmet] of [
    ['loan_purpose', 'debt_consolidation', 'wedding'],
    ['employment_status', 'employed', 'other'],
    ['housing_status', 'own', 'rent'],
    ['citizenship_status', 'perm_resident', 'visa'],
    ['loan_term_months', 36, 84],
  ] as const) {
    test(`supports a criterion on ${field}`, () => {
      assert.ok(meets({ field, in: [met] }, { [field]: met }));
      assert.ok(!meets({ field, in: [met] }, { [field]: unmet }));
      assert.ok(!meets({ field, not_in: [unmet] }, { [field]: unmet }));
    });
  }

  test('excludes borrowers in credit bands below the minimum credit score', () => {
    const bands = Object.fromEntries(
      ['620-659', '660-699', '700-749', '750-799', '800+'].map((name) => [name, plainBand()]),
    );
    const servedFrom = (min_credit_score: number) =>
      Object.keys(bands).filter((credit_score_range) => matches({ bands, min_credit_score }, { credit_score_range }));
    assert.deepEqual(servedFrom(620), Object.keys(bands));
    assert.deepEqual(servedFrom(659), Object.keys(bands));
    assert.deepEqual(servedFrom(660), ['660-699', '700-749', '750-799', '800+']);
    assert.deepEqual(servedFrom(850), ['800+']);
  });

  test('excludes borrowers below the age of contract of their state', () => {
    const rules = { state_rules: { CA: { min_age: 21 } } };
    const at20 = { birthdate: '2005-08-02' };
    assert.ok(!matches({}, at20, rules));
    assert.ok(matches({}, { birthdate: '2005-08-01' }, rules));
    assert.ok(matches({}, { ...at20, state: 'NY' }, rules));
  });

  test('does not apply the age of contract to a borrower without a birthdate', () => {
    assert.ok(matches({}, {}, { state_rules: { CA: { min_age: 21 } } }));
  });

  for (const criterion of [
    { field: 'housing_status', not_in: ['rent'] },
    { field: 'monthly_debt_payments', max: 100_000 },
    { field: 'birthdate', min_age: 18 },
    { field: 'co_borrower', in: [false, true] },
    { field: 'loan_term_months', not_in: [12] },
  ]) {
    test(`excludes an offer with a criterion on ${criterion.field} if the field is absent`, () => {
      const { monthly_debt_payments: _, ...fields } = goodBorrower;
      const catalog = compiled(catalogOf([plainOffer({ criteria: [criterion] })]));
      assert.equal(rankLoans(catalog.tables, borrowerOf(fields), today).total, 0);
    });
  }

  test('excludes an offer without a price for the credit band', () => {
    assert.ok(!matches({}, { credit_score_range: '660-699' }));
  });

  test('requires an amount within the ranges of the offer and of the credit band', () => {
    const offer = { amount: { min: 5_000, max: 40_000 }, bands: { '700-749': plainBand({ max_amount: 20_000 }) } };
    assert.deepEqual(
      [4_999, 5_000, 20_000, 20_001].map((loan_amount) => matches(offer, { loan_amount })),
      [false, true, true, false],
    );
  });

  test('excludes an offer for an amount below the minimum of the state', () => {
    const rules = { state_rules: { CA: { min_amount: 15_001 } } };
    assert.ok(!matches({}, {}, rules));
    assert.ok(matches({}, { loan_amount: 15_001 }, rules));
    assert.ok(matches({}, { state: 'NY' }, rules));
  });

  /** Whether an offer is made under these rules of the catalog, its lender and itself. */
  function shownUnder(rules: readonly (LoanCatalog['state_rules'] | null)[], fields: object = {}): boolean {
    const [all, lender, offer] = rules.map((own) => own ?? {});
    const catalog = catalogOf([plainOffer({ state_rules: offer! })], { state_rules: all! });
    catalog.lenders[0]!.state_rules = lender!;
    return rankLoans(compiled(catalog).tables, borrowerOf({ ...goodBorrower, ...fields }), today).total === 1;
  }

  test('applies the highest minimum amount of catalog, lender and offer', () => {
    const [small, large] = [{ CA: { min_amount: 5_000 } }, { CA: { min_amount: 15_001 } }];
    assert.ok(shownUnder([small, small, small]));
    for (const rules of [
      [large, small, small],
      [small, large, null],
      [null, small, large],
    ]) {
      assert.ok(!shownUnder(rules));
      assert.ok(shownUnder(rules, { loan_amount: 15_001 }));
      assert.ok(shownUnder(rules, { state: 'NY' }));
    }
  });

  test('applies the lowest APR cap of catalog, lender and offer', () => {
    const [high, low] = [{ CA: { max_apr_percent: 30 } }, { CA: { max_apr_percent: 11.99 } }];
    assert.ok(shownUnder([high, high, high]));
    for (const rules of [
      [low, high, high],
      [high, low, null],
      [null, high, low],
    ]) {
      assert.ok(!shownUnder(rules));
      assert.ok(shownUnder(rules, { state: 'NY' }));
    }
  });

  test('applies the rules of a lender only to its offers', () => {
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
    const shown = (state: string) => orderOf(compiled(catalog), borrowerOf({ ...goodBorrower, state }), 'lowest_apr');
    assert.deepEqual(shown('CA'), ['b']);
    assert.deepEqual(shown('NY'), ['a', 'b', 'c']);
  });

  test('compares the upper end of the APR range with the cap of the state', () => {
    assert.ok(matches({}, {}, { state_rules: { CA: { max_apr_percent: 12 } } }));
    assert.ok(!matches({}, {}, { state_rules: { CA: { max_apr_percent: 11.99 } } }));
    assert.ok(matches({}, { state: 'NY' }, { state_rules: { CA: { max_apr_percent: 5 } } }));
  });

  test('excludes an offer whose fee raises the APR above 36 %', () => {
    const at = (origination_fee_percent: number) =>
      matches({
        bands: { '700-749': plainBand({ note_rate_percent: { min: 30, max: 35 }, origination_fee_percent }) },
      });
    assert.ok(at(0));
    assert.ok(!at(2));
  });

  test('includes an offer with an APR of exactly the cap', () => {
    assert.ok(matches({ bands: { '700-749': plainBand({ note_rate_percent: { min: 36, max: 36 } }) } }));
  });

  test('the debt-to-income limit counts the new payment', () => {
    // 15,000 USD at 11 % over 36 months cost 491.08 a month; 7,083.33 a month and 30 % leave 2,125 for debts.
    const offer = { max_debt_to_income_percent: 30 };
    assert.ok(matches(offer, { monthly_debt_payments: 1_633 }));
    assert.ok(!matches(offer, { monthly_debt_payments: 1_634 }));
  });

  test('excludes an offer with a debt-to-income limit if the debt is unknown', () => {
    const { monthly_debt_payments: _, ...fields } = goodBorrower;
    const catalog = compiled(catalogOf([plainOffer({ max_debt_to_income_percent: 90 })]));
    assert.equal(rankLoans(catalog.tables, borrowerOf(fields), today).total, 0);
  });

  test('matches no offer without amount, credit band or state', () => {
    const catalog = compiled(catalogOf([plainOffer()]));
    for (const missing of ['loan_amount', 'credit_score_range', 'state']) {
      const fields = Object.fromEntries(Object.entries(goodBorrower).filter(([name]) => name !== missing));
      const nothing = { total: 0, availableOnly: false, orders: new Uint16Array(0) };
      assert.deepEqual(rankLoans(catalog.tables, borrowerOf(fields), today), nothing);
    }
  });
});

describe('orders', () => {
  const priced = (id: string, min: number, max: number, changes: Partial<LoanOffer> = {}) =>
    plainOffer({ id, bands: { '700-749': plainBand({ note_rate_percent: { min, max } }) }, ...changes });
  const borrower = borrowerOf(goodBorrower);

  test('lowest_apr sorts by lower APR, upper APR and offer id', () => {
    const catalog = compiled(
      catalogOf([priced('d', 9, 20), priced('b', 8, 12), priced('c', 8, 11), priced('a', 8, 12)]),
    );
    assert.deepEqual(orderOf(catalog, borrower, 'lowest_apr'), ['c', 'a', 'b', 'd']);
  });

  test('lowest_apr compares the rounded rates of the response', () => {
    // Both start at 8.00 %, so the upper end decides, though one begins a hair lower.
    const catalog = compiled(catalogOf([priced('a', 8.0001, 12), priced('b', 8.0002, 11)]));
    assert.deepEqual(orderOf(catalog, borrower, 'lowest_apr'), ['b', 'a']);
  });

  test('highest_amount sorts by the available amount, then by APR', () => {
    const upTo = (max: number) => ({ amount: { min: 1_000, max } });
    const catalog = compiled(
      catalogOf([
        priced('a', 9, 20, upTo(30_000)),
        priced('b', 7, 12, upTo(30_000)),
        priced('c', 20, 30, upTo(40_000)),
      ]),
    );
    assert.deepEqual(orderOf(catalog, borrower, 'highest_amount'), ['c', 'b', 'a']);
  });

  test('highest_amount applies debt limits', () => {
    const catalog = compiled(
      catalogOf([
        priced('a', 9, 20),
        priced('b', 7, 12, { max_debt_to_income_percent: 35, amount: { min: 1_000, max: 50_000 } }),
      ]),
    );
    assert.deepEqual(orderOf(catalog, borrower, 'highest_amount'), ['a', 'b']);
    assert.equal(quote(catalog, 1, borrower)!.loan_amount_range.max, 30_567);
  });

  test('svc_revenue sorts by payout times confirm rate', () => {
    const paid = (id: string, payout_usd: number, confirm_rate: number) =>
      plainOffer({ id, payout_usd, bands: { '700-749': plainBand({ confirm_rate }) } });
    const catalog = compiled(catalogOf([paid('a', 100, 0.01), paid('b', 50, 0.05), paid('c', 20, 0.1)]));
    assert.deepEqual(orderOf(catalog, borrower, 'svc_revenue'), ['b', 'c', 'a']);
  });

  test('svc_revenue sorts a cost-per-click offer by its payout', () => {
    const lead = plainOffer({ id: 'a', payout_usd: 60, bands: { '700-749': plainBand({ confirm_rate: 0.05 }) } });
    const click = (payout_usd: number) =>
      plainOffer({
        id: 'b',
        payout_model: 'cost_per_click',
        payout_usd,
        bands: { '700-749': plainBand({ confirm_rate: 0.01 }) },
      });
    assert.deepEqual(orderOf(compiled(catalogOf([lead, click(2.99)])), borrower, 'svc_revenue'), ['a', 'b']);
    assert.deepEqual(orderOf(compiled(catalogOf([lead, click(3.01)])), borrower, 'svc_revenue'), ['b', 'a']);
  });

  test('recommended scales the approval likelihood by the accepted share of a band', () => {
    // 725 to 749 is half of the fifty scores from 700 on.
    const half = plainOffer({
      id: 'b',
      min_credit_score: 725,
      bands: { '700-749': plainBand({ approval_likelihood: 0.8 }) },
    });
    const whole = (approval_likelihood: number) =>
      plainOffer({ id: 'a', bands: { '700-749': plainBand({ approval_likelihood }) } });
    assert.deepEqual(orderOf(compiled(catalogOf([half, whole(0.39)])), borrower, 'recommended'), ['b', 'a']);
    assert.deepEqual(orderOf(compiled(catalogOf([half, whole(0.41)])), borrower, 'recommended'), ['a', 'b']);
    assert.deepEqual(orderOf(compiled(catalogOf([half, whole(0.4)])), borrower, 'recommended'), ['a', 'b']);
  });

  test('recommended ignores the payout', () => {
    const order = (payouts: readonly number[]) =>
      orderOf(
        compiled(catalogOf(payouts.map((payout_usd, at) => priced(`o${at}`, 8 + at, 12 + at, { payout_usd })))),
        borrower,
        'recommended',
      );
    assert.deepEqual(order([1, 2, 3]), order([3_000, 2, 1]));
  });

  for (const [better, worse, what] of [
    [priced('b', 8, 10), priced('a', 9, 11), 'a lower cost'],
    [plainOffer({ id: 'b', stars: 4.5 }), plainOffer({ id: 'a' }), 'more stars'],
    [plainOffer({ id: 'b', term_months: [48] }), plainOffer({ id: 'a', term_months: [84] }), 'a nearer term'],
    [plainOffer({ id: 'b' }), plainOffer({ id: 'a', amount: { min: 1_000, max: 16_000 } }), 'more room for the amount'],
    [
      plainOffer({ id: 'b', bands: { '700-749': plainBand({ approval_likelihood: 0.9 }) } }),
      plainOffer({ id: 'a' }),
      'a likelier approval',
    ],
  ] as const) {
    test(`recommended prefers ${what}`, () => {
      const catalog = compiled(catalogOf([better, worse]));
      assert.deepEqual(orderOf(catalog, borrowerOf({ ...goodBorrower, loan_term_months: 48 }), 'recommended'), [
        'b',
        'a',
      ]);
    });
  }

  test('each order contains the best 20 offers, and the total counts all matching offers', () => {
    const catalog = compiled(
      catalogOf(Array.from({ length: 45 }, (_, at) => priced(`o${at}`, 8 + ((at * 7) % 45) / 10, 14))),
    );
    const { total, orders } = rankLoans(catalog.tables, borrower, today);
    assert.equal(total, 45);
    assert.equal(orders.length, 80);
    assert.equal(orderOf(catalog, borrower, 'lowest_apr')[19], referenceTwentieth(catalog, borrower));
  });

  function referenceTwentieth(catalog: CompiledCatalog, who: number[]): string {
    const all = catalog.offers.map(({ id }, at) => ({ id, apr: quote(catalog, at, who)!.apr_range.min }));
    return all.sort((a, b) => a.apr - b.apr || (a.id < b.id ? -1 : 1))[19]!.id;
  }
});

for (const vertical of [personalLoans, equipmentLeases]) {
  test(`matching ${vertical.segment} agrees with the reference rules for random catalogs and borrowers`, () => {
    let matched = 0;
    fc.assert(
      fc.property(fc.nat(), fc.integer({ min: 1, max: 90 }), fc.nat(), (catalogSeed, offers, borrowerSeed) => {
        const catalog = generateCatalog(catalogSeed, offers, vertical);
        const fast = compileCatalog(catalog, vertical, { mode: 'live', cdnUrl: () => '' });
        const random = seededRandom(borrowerSeed);
        for (let i = 0; i < 8; i++) {
          const borrower = randomBorrower(random, vertical, 0.2);
          if (random() < 0.05) borrower[Math.floor(random() * borrower.length)] = absentValue;
          const plain = referenceMatches(catalog, vertical, borrower, today);
          matched += plain.length;
          const { total } = rankLoans(fast.tables, borrower, today);
          assert.equal(total, plain.length);
          for (const sort of sortOrders) {
            assert.deepEqual(orderOf(fast, borrower, sort), referenceOrder(plain, sort).slice(0, 20), sort);
          }
          for (const { id, quote: expected } of plain) {
            assert.deepEqual(quote(fast, fast.offerIndex(id), borrower), expected);
          }
        }
      }),
      { numRuns: 120 },
    );
    assert.ok(matched > 1_000, `only ${matched} matches were compared`);
  });
}
