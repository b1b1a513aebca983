import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { bounds } from '../../src/bounds.ts';
import { explainOffers, type MatchExplanation } from '../../src/matching/explain-offers.ts';
import { listOffersById } from '../../src/matching/match-tables.ts';
import { absentValue, type FieldVector } from '../../src/verticals/field-vector.ts';
import { compileLoanTables } from '../../src/verticals/personal-loans/loan-tables.ts';
import type { LoanCatalog, LoanOffer } from '../../src/verticals/personal-loans/offer-schema.ts';
import { personalLoans } from '../../src/verticals/personal-loans/personal-loans.ts';
import { rankLoans } from '../../src/verticals/personal-loans/rank-loans.ts';
import type { Vertical } from '../../src/verticals/vertical.ts';
import { equipmentLeases } from '../support/equipment-leases.ts';
import { generateCatalog, randomBorrower, seededRandom } from '../support/random-catalog.ts';
import { borrowerOf, catalogOf, goodBorrower, plainBand, plainOffer, today } from './loan-fixtures.ts';

function explain(
  catalog: LoanCatalog,
  borrower: FieldVector,
  vertical: Vertical = personalLoans,
  unavailable: Int32Array | null = null,
): Promise<MatchExplanation> {
  return explainOffers(compileLoanTables(catalog, vertical), vertical, borrower, today, unavailable);
}

/** Returns the reasons why a good borrower with these fields changed does not get an offer, as `reason field`. */
async function reasonsFor(offer: object, fields: object, catalog: Partial<LoanCatalog>): Promise<string> {
  const file = catalogOf([plainOffer(offer as Partial<LoanOffer>)], catalog);
  const { reasons } = await explain(file, borrowerOf({ ...goodBorrower, ...fields }));
  return reasons.map(({ reason, field }) => `${reason} ${field}`).join(', ');
}

describe('explainOffers reports', () => {
  const criteria = (...list: object[]) => ({ criteria: list });
  const inCalifornia = (rules: object) => ({ state_rules: { CA: rules } });
  const debtLimit = (max_debt_to_income_percent: number, ...term_months: number[]) =>
    term_months.length === 0 ? { max_debt_to_income_percent } : { max_debt_to_income_percent, term_months };

  for (const [expected, offer, fields = {}, catalog = {}] of [
    ['', {}],
    ['not_accepted state', criteria({ field: 'state', in: ['NY', 'TX'] })],
    ['not_accepted state', criteria({ field: 'state', not_in: ['CA'] })],
    ['not_accepted annual_income', criteria({ field: 'annual_income', min: 90_000 })],
    ['not_told annual_income', criteria({ field: 'annual_income', min: 90_000 }), { annual_income: null }],
    ['not_accepted monthly_debt_payments', criteria({ field: 'monthly_debt_payments', max: 100 })],
    ['not_accepted birthdate', criteria({ field: 'birthdate', min_age: 30 }), { birthdate: '2000-08-01' }],
    ['not_told birthdate', criteria({ field: 'birthdate', min_age: 30 })],
    ['not_accepted co_borrower', criteria({ field: 'co_borrower', in: [true] }), { co_borrower: false }],
    ['not_told co_borrower', criteria({ field: 'co_borrower', in: [true] })],
    ['not_accepted loan_term_months', criteria({ field: 'loan_term_months', in: [60] }), { loan_term_months: 12 }],
    ['not_told loan_term_months', criteria({ field: 'loan_term_months', in: [60] })],
    // An offer that excludes the credit band has no prices to check.
    ['not_accepted credit_score_range', { bands: { '800+': plainBand({ max_amount: 1_000 }) }, ...debtLimit(1) }],
    ['amount_too_low loan_amount', { amount: { min: 20_000, max: 50_000 } }],
    ['amount_too_high loan_amount', { amount: { min: 1_000, max: 9_000 } }],
    ['amount_too_high loan_amount', { bands: { '700-749': plainBand({ max_amount: 14_999 }) } }],
    ['amount_too_low_in_state state', {}, {}, inCalifornia({ min_amount: 15_001 })],
    ['apr_above_cap state', {}, {}, inCalifornia({ max_apr_percent: 11.99 })],
    ['not_accepted birthdate', {}, { birthdate: '2007-08-01' }, inCalifornia({ min_age: 21 })],
    ['debt_to_income monthly_debt_payments', debtLimit(20)],
    ['not_told monthly_debt_payments', debtLimit(20), { monthly_debt_payments: null }],
    ['not_told annual_income', debtLimit(20), { annual_income: null }],
    // 30 % leave 625 a month for the new payment: enough over 36 months (491.08), not over 24 (699.12).
    ['', debtLimit(30, 24, 36)],
    ['debt_to_income monthly_debt_payments', debtLimit(30, 12, 24)],
    ['apr_above_cap state', debtLimit(30), {}, inCalifornia({ max_apr_percent: 5 })],
    [
      'apr_above_cap state, debt_to_income monthly_debt_payments',
      debtLimit(20),
      {},
      inCalifornia({ max_apr_percent: 5 }),
    ],
    // Each reason of an offer is reported once.
    ['not_accepted state', criteria({ field: 'state', in: ['NY'] }, { field: 'state', not_in: ['CA'] })],
  ] as const satisfies readonly (readonly [expected: string, offer: object, fields?: object, catalog?: object])[]) {
    test(`the reasons "${expected}" for ${JSON.stringify([offer, fields, catalog])}`, async () => {
      assert.equal(await reasonsFor(offer, fields, catalog), expected);
    });
  }
});

test('counts an offer under each of its mismatch reasons, with the most common reason first', async () => {
  const inNewYork = { field: 'state', in: ['NY'] };
  const adults = { field: 'birthdate', min_age: 21 };
  const offers = [[], [inNewYork], [inNewYork, adults], [adults], [adults], []].map((criteria, at) =>
    plainOffer({ id: `o${at}`, criteria }),
  );
  const explanation = await explain(
    catalogOf(offers),
    borrowerOf(goodBorrower),
    personalLoans,
    Int32Array.of(0b100000),
  );
  assert.deepEqual(explanation, {
    offers_in_catalog: 6,
    matched: 1,
    not_matched: 5,
    reasons: [
      { reason: 'not_told', field: 'birthdate', offers: 3, alone: 2 },
      { reason: 'not_accepted', field: 'state', offers: 2, alone: 1 },
      { reason: 'daily_cap', field: null, offers: 1, alone: 1 },
    ],
  } satisfies MatchExplanation);
});

for (const vertical of [personalLoans, equipmentLeases]) {
  test(`explanations of ${vertical.segment} agree with the matcher and contain all reasons of each offer`, async () => {
    const seen = new Set<string>();
    await fc.assert(
      fc.asyncProperty(fc.nat(), fc.integer({ min: 1, max: 60 }), fc.nat(), async (catalogSeed, offers, seed) => {
        const catalog = generateCatalog(catalogSeed, offers, vertical);
        const tables = compileLoanTables(catalog, vertical);
        const random = seededRandom(seed);
        const borrowers = Array.from({ length: 4 }, () => {
          const borrower = randomBorrower(random, vertical, 0.2);
          if (random() < 0.05) borrower[Math.floor(random() * borrower.length)] = absentValue;
          return borrower;
        });
        for (const borrower of borrowers) {
          const unavailable =
            random() < 0.5 ? null : Int32Array.from({ length: Math.ceil(offers / 32) }, () => random() * 2 ** 32);
          const explained = await explainOffers(tables, vertical, borrower, today, unavailable);
          for (const { reason } of explained.reasons) seen.add(reason);
          assert.equal(explained.matched, rankLoans(tables, borrower, today, unavailable).total);
          assert.equal(explained.matched + explained.not_matched, offers);
        }

        const borrower = borrowers[0]!;
        const counts = new Map<string, number>();
        for (const { lender, offer } of listOffersById(catalog)) {
          const alone = { ...catalog, lenders: [{ ...lender, offers: [offer] }] } as LoanCatalog;
          const { matched, reasons } = await explain(alone, borrower, vertical);
          assert.equal(reasons.length === 0, matched === 1, offer.id);
          for (const { reason, field } of reasons) {
            counts.set(`${reason} ${field}`, (counts.get(`${reason} ${field}`) ?? 0) + 1);
          }
        }
        const { reasons: all } = await explainOffers(tables, vertical, borrower, today, null);
        assert.deepEqual(new Map(all.map(({ reason, field, offers: n }) => [`${reason} ${field}`, n])), counts);
      }),
      { numRuns: 60, seed: 1 },
    );
    const all = ['amount_too_high', 'amount_too_low', 'amount_too_low_in_state', 'apr_above_cap'];
    assert.deepEqual([...seen].sort(), [...all, 'daily_cap', 'debt_to_income', 'not_accepted', 'not_told']);
  });
}

test('yields to the event loop during the explanation of a large catalog', async () => {
  const offers = 10 * bounds.explainedOffersPerTurn;
  let turns = 0;
  let isExplaining = true;
  const countTurn = (): void => {
    turns++;
    if (isExplaining) setImmediate(countTurn);
  };
  const catalog = generateCatalog(1, offers);
  setImmediate(countTurn);
  const { matched, not_matched } = await explain(catalog, borrowerOf(goodBorrower));
  isExplaining = false;
  assert.equal(matched + not_matched, offers);
  assert.ok(turns >= 9, `${turns} turns`);
});
