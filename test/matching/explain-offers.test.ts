import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { bounds } from '../../src/bounds.ts';
import { type Explanation, explainOffers } from '../../src/matching/explain-offers.ts';
import { offersById } from '../../src/matching/match-tables.ts';
import { absentValue, type FieldVector } from '../../src/verticals/field-vector.ts';
import { compileLoanTables } from '../../src/verticals/personal-loans/loan-tables.ts';
import type { LoanCatalog, LoanOffer } from '../../src/verticals/personal-loans/offer-schema.ts';
import { personalLoans } from '../../src/verticals/personal-loans/personal-loans.ts';
import { rankLoans } from '../../src/verticals/personal-loans/rank-loans.ts';
import type { Vertical } from '../../src/verticals/vertical.ts';
import { equipmentLeases } from '../support/equipment-leases.ts';
import { generateCatalog, randomBorrower, seededRandom } from '../support/random-catalog.ts';
import { borrowerOf, catalogOf, goodBorrower, plainBand, plainOffer, today } from './loan-fixtures.ts';

function explain(catalog: LoanCatalog, borrower: FieldVector, vertical: Vertical = personalLoans) {
  return explainOffers(compileLoanTables(catalog, vertical), vertical, borrower, today, null);
}

/** Why an offer changed this way is not made to a good borrower with these fields changed, as `reason field`. */
async function against(
  offer: Partial<LoanOffer>,
  fields: object = {},
  catalog: Partial<LoanCatalog> = {},
): Promise<string[]> {
  const borrower = borrowerOf({ ...goodBorrower, ...fields });
  const { reasons } = await explain(catalogOf([plainOffer(offer)], catalog), borrower);
  return reasons.map(({ reason, field }) => `${reason} ${field}`);
}

describe('explainOffers', () => {
  test('returns no reasons for a matching offer', async () => {
    assert.deepEqual(await against({}), []);
  });

  for (const [criterion, told, untold] of [
    [{ field: 'state', in: ['NY', 'TX'] }, { state: 'CA' }, null],
    [{ field: 'state', not_in: ['CA'] }, { state: 'CA' }, null],
    [{ field: 'annual_income', min: 90_000 }, {}, { annual_income: null }],
    [{ field: 'monthly_debt_payments', max: 100 }, {}, { monthly_debt_payments: null }],
    [{ field: 'birthdate', min_age: 30 }, { birthdate: '2000-08-01' }, {}],
    [{ field: 'co_borrower', in: [true] }, { co_borrower: false }, {}],
    [{ field: 'loan_term_months', in: [60] }, { loan_term_months: 12 }, {}],
    [{ field: 'citizenship_status', not_in: ['visa'] }, { citizenship_status: 'visa' }, {}],
  ] as const) {
    const { field } = criterion;
    const offer = { criteria: [{ ...criterion }] } as unknown as Partial<LoanOffer>;

    test(`reports an unmet criterion on ${field} as not_accepted with the field`, async () => {
      assert.deepEqual(await against(offer, told), [`not_accepted ${field}`]);
    });

    if (untold === null) continue;
    test(`reports a criterion on an absent ${field} as not_told with the field`, async () => {
      assert.deepEqual(await against(offer, untold), [`not_told ${field}`]);
    });
  }

  test('reports only the credit band, and no prices, if the offer excludes this band', async () => {
    const offer = { bands: { '800+': plainBand({ max_amount: 1_000 }) }, max_debt_to_income_percent: 1 };
    assert.deepEqual(await against(offer), ['not_accepted credit_score_range']);
  });

  test('reports an amount below or above the range of the offer', async () => {
    assert.deepEqual(await against({ amount: { min: 20_000, max: 50_000 } }), ['amount_too_low loan_amount']);
    assert.deepEqual(await against({ amount: { min: 1_000, max: 9_000 } }), ['amount_too_high loan_amount']);
    assert.deepEqual(await against({ bands: { '700-749': plainBand({ max_amount: 14_999 }) } }), [
      'amount_too_high loan_amount',
    ]);
  });

  test('reports the minimum amount or APR cap of a state', async () => {
    assert.deepEqual(await against({}, {}, { state_rules: { CA: { min_amount: 15_001 } } }), [
      'amount_too_low_in_state state',
    ]);
    assert.deepEqual(await against({}, {}, { state_rules: { CA: { max_apr_percent: 11.99 } } }), [
      'apr_above_cap state',
    ]);
  });

  test('reports too much debt, and an absent debt or income', async () => {
    const offer = { max_debt_to_income_percent: 20 };
    assert.deepEqual(await against(offer), ['debt_to_income monthly_debt_payments']);
    assert.deepEqual(await against(offer, { monthly_debt_payments: null }), ['not_told monthly_debt_payments']);
    assert.deepEqual(await against(offer, { annual_income: null }), ['not_told annual_income']);
  });

  test('reports debt only if no term is affordable', async () => {
    // 30 % leave 625 a month for the new payment: enough over 36 months (491.08), not over 24 (699.12).
    const offer = { max_debt_to_income_percent: 30 };
    assert.deepEqual(await against({ ...offer, term_months: [24, 36] }), []);
    assert.deepEqual(await against({ ...offer, term_months: [12, 24] }), ['debt_to_income monthly_debt_payments']);
  });

  test('reports both debt and APR cap if together they exclude every term', async () => {
    const capped = { state_rules: { CA: { max_apr_percent: 5 } } };
    assert.deepEqual(await against({ max_debt_to_income_percent: 30 }, {}, capped), ['apr_above_cap state']);
    assert.deepEqual(await against({ max_debt_to_income_percent: 20 }, {}, capped), [
      'apr_above_cap state',
      'debt_to_income monthly_debt_payments',
    ]);
  });

  test('reports each reason of an offer once', async () => {
    const offer = {
      criteria: [
        { field: 'state', in: ['NY'] },
        { field: 'state', not_in: ['CA'] },
        { field: 'birthdate', min_age: 21 },
      ],
      amount: { min: 20_000, max: 50_000 },
    };
    assert.deepEqual(await against(offer), ['amount_too_low loan_amount', 'not_accepted state', 'not_told birthdate']);
  });
});

test('counts an offer under each of its reasons, the most common reason first', async () => {
  const inNewYork = { field: 'state', in: ['NY'] };
  const adults = { field: 'birthdate', min_age: 21 };
  const catalog = catalogOf([
    plainOffer({ id: 'matches' }),
    plainOffer({ id: 'state-1', criteria: [inNewYork] }),
    plainOffer({ id: 'both', criteria: [inNewYork, adults] }),
    plainOffer({ id: 'age-1', criteria: [adults] }),
    plainOffer({ id: 'age-2', criteria: [adults] }),
  ]);
  assert.deepEqual(await explain(catalog, borrowerOf(goodBorrower)), {
    offers_in_catalog: 5,
    matched: 1,
    not_matched: 4,
    reasons: [
      { reason: 'not_told', field: 'birthdate', offers: 3, alone: 2 },
      { reason: 'not_accepted', field: 'state', offers: 2, alone: 1 },
    ],
  } satisfies Explanation);
});

test('reports an exhausted daily cap as a reason without a field', async () => {
  const tables = compileLoanTables(catalogOf([plainOffer({ id: 'a' }), plainOffer({ id: 'b' })]), personalLoans);
  const { matched, reasons } = await explainOffers(
    tables,
    personalLoans,
    borrowerOf(goodBorrower),
    today,
    Int32Array.of(0b10),
  );
  assert.equal(matched, 1);
  assert.deepEqual(reasons, [{ reason: 'daily_cap', field: null, offers: 1, alone: 1 }]);
});

test('excludes all offers for a borrower without amount, band or state', async () => {
  const catalog = generateCatalog(4, 30);
  for (const missing of ['loan_amount', 'credit_score_range', 'state']) {
    const fields = Object.fromEntries(Object.entries(goodBorrower).filter(([name]) => name !== missing));
    const { matched, not_matched, reasons } = await explain(catalog, borrowerOf(fields));
    assert.deepEqual([matched, not_matched], [0, 30]);
    assert.equal(reasons.find(({ reason, field }) => reason === 'not_told' && field === missing)?.offers, 30);
  }
});

for (const vertical of [personalLoans, equipmentLeases]) {
  test(`explanations of ${vertical.segment} agree with the matcher, and the counts add up`, async () => {
    const seen = new Set<string>();
    await fc.assert(
      fc.asyncProperty(fc.nat(), fc.integer({ min: 1, max: 90 }), fc.nat(), async (catalogSeed, offers, seed) => {
        const catalog = generateCatalog(catalogSeed, offers, vertical);
        const tables = compileLoanTables(catalog, vertical);
        const random = seededRandom(seed);
        for (let i = 0; i < 4; i++) {
          const borrower = randomBorrower(random, vertical, 0.2);
          if (random() < 0.05) borrower[Math.floor(random() * borrower.length)] = absentValue;
          const closed =
            random() < 0.5 ? null : Int32Array.from({ length: Math.ceil(offers / 32) }, () => random() * 2 ** 32);
          const explained = await explainOffers(tables, vertical, borrower, today, closed);
          const { offers_in_catalog, matched, not_matched, reasons } = explained;
          for (const { reason } of reasons) seen.add(reason);
          assert.equal(matched, rankLoans(tables, borrower, today, closed).total);
          assert.equal(offers_in_catalog, offers);
          assert.equal(matched + not_matched, offers);
          const sum = (count: 'offers' | 'alone') => reasons.reduce((total, one) => total + one[count], 0);
          assert.ok(sum('alone') <= not_matched && not_matched <= sum('offers'));
          for (const { offers: kept, alone } of reasons) assert.ok(kept > 0 && alone <= kept && kept <= not_matched);
        }
      }),
      { numRuns: 100 },
    );
    const all = ['amount_too_high', 'amount_too_low', 'amount_too_low_in_state', 'apr_above_cap'];
    assert.deepEqual([...seen].sort(), [...all, 'daily_cap', 'debt_to_income', 'not_accepted', 'not_told']);
  });
}

test('returns reasons for all offers that do not match, and for no other offer', async () => {
  const random = seededRandom(2_026);
  for (let seed = 0; seed < 15; seed++) {
    const catalog = generateCatalog(seed, 40);
    const borrower = randomBorrower(random, personalLoans, 0.2);
    const together = new Map<string, number>();
    let matched = 0;
    for (const { lender, offer } of offersById(catalog)) {
      const alone = { ...catalog, lenders: [{ ...lender, offers: [offer] }] };
      const explained = await explain(alone, borrower);
      const { total } = rankLoans(compileLoanTables(alone, personalLoans), borrower, today);
      assert.equal(explained.reasons.length === 0, total === 1, offer.id);
      matched += total;
      for (const { reason, field } of explained.reasons) {
        const key = `${reason} ${field}`;
        together.set(key, (together.get(key) ?? 0) + 1);
      }
    }
    const explained = await explain(catalog, borrower);
    assert.equal(explained.matched, matched);
    assert.deepEqual(
      new Map(explained.reasons.map(({ reason, field, offers }) => [`${reason} ${field}`, offers])),
      together,
    );
  }
});

test('yields to the event loop during the explanation of a large catalog', async () => {
  const offers = 10 * bounds.explainedOffersPerTurn;
  const tables = compileLoanTables(generateCatalog(1, offers), personalLoans);
  let turns = 0;
  let explaining = true;
  const takeTurns = (): void => {
    turns++;
    if (explaining) setImmediate(takeTurns);
  };
  setImmediate(takeTurns);
  const { matched, not_matched } = await explainOffers(tables, personalLoans, borrowerOf(goodBorrower), today, null);
  explaining = false;
  assert.equal(matched + not_matched, offers);
  assert.ok(turns >= 9, `${turns} turns`);
});
