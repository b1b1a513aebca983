import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { sortOrderNames } from '../../../src/domain/vertical.ts';
import { createPricingRanker } from '../../../src/matching/pricing-ranker.ts';
import type { CardTables } from '../../../src/verticals/credit-cards/card-tables.ts';
import { priceCards } from '../../../src/verticals/credit-cards/card-view.ts';
import { creditCards } from '../../../src/verticals/credit-cards/credit-cards.ts';
import type { CardCatalog } from '../../../src/verticals/credit-cards/offer-schema.ts';
import { cardPricer, rankCards } from '../../../src/verticals/credit-cards/rank-cards.ts';
import { createFairnessChecks, type Market } from '../../matching/priced-rankings.ts';
import { seededRandom } from '../../support/random-catalog.ts';
import { compileCards, generateCards, randomCardBorrower, today } from './card-fixtures.ts';

const fairMarket: Market<CardTables> = { rank: rankCards, price: priceCards };

/** Catalogs in which at most 20 cards match, so that every matching card is in every order. */
const catalogs = Array.from({ length: 40 }, (_, seed) => compileCards(generateCards(seed, 60)));
const { show, testTraits } = createFairnessChecks({
  vertical: creditCards,
  fairMarket,
  pricer: cardPricer,
  catalogs,
  drawBorrower: (random) => randomCardBorrower(random, 0),
  today,
  weight: 50_000,
});

testTraits(['birthdate', 'citizenship_status', 'address_zip', 'employment_status'], 200);

describe('influence of payouts', () => {
  /** Compares the orders of random borrowers before and after a change of all payouts. Returns how often `svc_revenue` differed. */
  function assertNoInfluence(market: Market<CardTables>): number {
    const random = seededRandom(11);
    let differed = 0;
    for (const [seed, catalog] of catalogs.entries()) {
      const file: CardCatalog = generateCards(seed, 60);
      for (const { offers } of file.lenders)
        for (const offer of offers) offer.payout_usd = Math.floor(random() * 1_000);
      const altered = compileCards(file);
      for (let i = 0; i < 10; i++) {
        const borrower = randomCardBorrower(random, 0.1);
        const [before, after] = [show(market, catalog, borrower), show(market, altered, borrower)];
        for (const sort of sortOrderNames.filter((name) => name !== 'svc_revenue')) {
          assert.deepEqual(after.orders[sort], before.orders[sort], `the order ${sort} depends on payouts`);
        }
        assert.deepEqual(after.prices, before.prices);
        if (after.orders.svc_revenue.join() !== before.orders.svc_revenue.join()) differed++;
      }
    }
    return differed;
  }

  test('payouts influence only the order svc_revenue', () => {
    const differed = assertNoInfluence(fairMarket);
    assert.ok(differed > 100, `svc_revenue differed only ${differed} times`);
  });

  test('the check detects an order that depends on the payout', () => {
    const rank = createPricingRanker({
      ...cardPricer,
      computeSortKeys(tables: CardTables, offer: number, applicant: never, keys) {
        const isAvailable = cardPricer.computeSortKeys(tables, offer, applicant, keys);
        keys.recommended += keys.revenue / 1_000;
        return isAvailable;
      },
    });
    assert.throws(() => assertNoInfluence({ ...fairMarket, rank }), /the order recommended depends on payouts/);
  });
});
