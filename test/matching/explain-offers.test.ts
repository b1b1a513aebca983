import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { bounds } from '../../src/bounds.ts';
import type { FieldVector } from '../../src/domain/field-vector.ts';
import type { Vertical } from '../../src/domain/vertical.ts';
import { explainOffers, type MatchExplanation } from '../../src/matching/explain-offers.ts';
import { listOffersSortedById } from '../../src/matching/match-tables.ts';
import { builtInVerticals } from '../../src/verticals/built-in-verticals.ts';
import { compileLoanTables } from '../../src/verticals/personal-loans/loan-tables.ts';
import type { LoanCatalog } from '../../src/verticals/personal-loans/offer-schema.ts';
import { personalLoans } from '../../src/verticals/personal-loans/personal-loans.ts';
import { equipmentLeases } from '../support/equipment-leases.ts';
import { generateCatalog, randomBorrower, seededRandom } from '../support/random-catalog.ts';
import { borrowerOf, catalogOf, goodBorrower, plainOffer, today } from './loan-fixtures.ts';

function explain(
  catalog: LoanCatalog,
  borrower: FieldVector,
  vertical: Vertical = personalLoans,
  unavailable: readonly number[] = [],
): Promise<MatchExplanation> {
  const tables = compileLoanTables(catalog, vertical);
  return explainOffers(builtInVerticals.getProduct(tables), tables, vertical, borrower, today, (offer) =>
    unavailable.includes(offer) ? ['daily_cap'] : [],
  );
}

test('counts an offer under each of its mismatch reasons, with the most common reason first', async () => {
  const inNewYork = { field: 'state', in: ['NY'] };
  const adults = { field: 'birthdate', min_age: 21 };
  const offers = [[], [inNewYork], [inNewYork, adults], [adults], [adults], []].map((criteria, at) =>
    plainOffer({ id: `o${at}`, criteria }),
  );
  const explanation = await explain(catalogOf(offers), borrowerOf(goodBorrower), personalLoans, [5]);
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
  // `compareRanking` checks that explanations agree with the matcher.
  test(`explanations of ${vertical.segment} contain all reasons of each offer`, async () => {
    const seen = new Set<string>();
    await fc.assert(
      fc.asyncProperty(fc.nat(), fc.integer({ min: 1, max: 60 }), fc.nat(), async (catalogSeed, offers, seed) => {
        const catalog = generateCatalog(catalogSeed, offers, vertical);
        const borrower = randomBorrower(seededRandom(seed), vertical, 0.2);
        const counts = new Map<string, number>();
        for (const { lender, offer } of listOffersSortedById(catalog)) {
          const alone = { ...catalog, lenders: [{ ...lender, offers: [offer] }] } as LoanCatalog;
          const { matched, reasons } = await explain(alone, borrower, vertical);
          assert.equal(reasons.length === 0, matched === 1, offer.id);
          for (const { reason, field } of reasons) {
            seen.add(reason);
            counts.set(`${reason} ${field}`, (counts.get(`${reason} ${field}`) ?? 0) + 1);
          }
        }
        const { matched, not_matched, reasons } = await explain(catalog, borrower, vertical);
        assert.equal(matched + not_matched, offers);
        assert.deepEqual(new Map(reasons.map(({ reason, field, offers: n }) => [`${reason} ${field}`, n])), counts);
      }),
      { numRuns: 60, seed: 2 },
    );
    const all = ['amount_too_high', 'amount_too_low', 'amount_too_low_in_state', 'apr_above_cap'];
    assert.deepEqual([...seen].sort(), [...all, 'debt_to_income', 'not_accepted', 'not_told']);
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
