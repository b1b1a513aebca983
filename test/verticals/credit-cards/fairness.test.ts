import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { sortOrderNames } from '../../../src/matching/matcher.ts';
import { createPricingRanker, type OfferRanker } from '../../../src/matching/pricing-ranker.ts';
import type { CardTables } from '../../../src/verticals/credit-cards/card-tables.ts';
import { priceCards } from '../../../src/verticals/credit-cards/card-view.ts';
import { creditCards } from '../../../src/verticals/credit-cards/credit-cards.ts';
import type { CardCatalog } from '../../../src/verticals/credit-cards/offer-schema.ts';
import { cardPricer, rankCards } from '../../../src/verticals/credit-cards/rank-cards.ts';
import { type FieldVector, findFieldIndex } from '../../../src/verticals/field-vector.ts';
import { randomFieldValue, seededRandom } from '../../support/random-catalog.ts';
import { type CompiledCards, compileCards, generateCards, randomCardBorrower, today } from './card-fixtures.ts';

/**
 * No protected or proxy trait changes a price or a rank, and no payout changes any order except `svc_revenue`
 * (docs/contract.md#fairness). Each check compares two borrowers who differ in one trait, and must fail for an unfair market.
 */
interface Market {
  readonly rank: OfferRanker<CardTables>;
  readonly price: typeof priceCards;
}

const fairMarket: Market = { rank: rankCards, price: priceCards };

/** Catalogs in which at most 20 cards match, so that every matching card is in every order. */
const catalogs: readonly CompiledCards[] = Array.from({ length: 40 }, (_, seed) =>
  compileCards(generateCards(seed, 60)),
);

interface Shown {
  readonly orders: Readonly<Record<string, readonly string[]>>;
  /** First-year values by offer id. */
  readonly prices: ReadonlyMap<string, unknown>;
}

function show(market: Market, catalog: CompiledCards, borrower: FieldVector): Shown {
  const { orders, total } = market.rank(catalog.tables, borrower, today, null);
  const idOf = (offer: number) => catalog.offers[offer]!.id;
  const places = orders.length / sortOrderNames.length;
  assert.equal(places, Math.min(total, catalog.tables.orderLength));
  return {
    orders: Object.fromEntries(
      sortOrderNames.map((sort, at) => [sort, [...orders.subarray(at * places, (at + 1) * places)].map(idOf)]),
    ),
    prices: new Map(
      market.price(catalog, orders.subarray(0, places), borrower).map(({ index, values }) => [idOf(index), values]),
    ),
  };
}

/** Asserts that the common cards of two borrowers who differ in a trait have the same prices and order. Returns the number of compared cards. */
function assertFair(market: Market, trait: string): number {
  const random = seededRandom(20_260_801);
  const position = findFieldIndex(creditCards, trait);
  let compared = 0;
  for (const catalog of catalogs) {
    for (let pair = 0; pair < 15; pair++) {
      const borrower = randomCardBorrower(random, 0);
      const other = borrower.with(position, randomFieldValue(random, creditCards.fields[position]!));
      const [ones, others] = [show(market, catalog, borrower), show(market, catalog, other)];
      for (const [id, price] of ones.prices) {
        if (!others.prices.has(id)) continue;
        assert.deepEqual(others.prices.get(id), price, `a price depends on ${trait}`);
        compared++;
      }
      for (const sort of sortOrderNames) {
        assert.deepEqual(
          ones.orders[sort]!.filter((id) => others.prices.has(id)),
          others.orders[sort]!.filter((id) => ones.prices.has(id)),
          `the order ${sort} depends on ${trait}`,
        );
      }
    }
  }
  return compared;
}

/** Returns a market whose scores include a trait, with a weight that differs from card to card. */
function createMarketWithWeight(trait: string): Market {
  const position = findFieldIndex(creditCards, trait);
  let value = 0;
  const rank = createPricingRanker<CardTables, ReturnType<typeof cardPricer.readApplicant>>({
    readApplicant(tables, borrower) {
      value = borrower[position]!;
      return cardPricer.readApplicant(tables, borrower);
    },
    computeSortKeys(tables, offer, applicant, keys) {
      const isAvailable = cardPricer.computeSortKeys(tables, offer, applicant!, keys);
      keys.recommended -= ((value * (offer + 1)) % 7) * 50_000;
      return isAvailable;
    },
  });
  return { ...fairMarket, rank };
}

/** Returns a market in which borrowers with every second value of a trait get other first-year values. */
function createMarketWithSurcharge(trait: string): Market {
  const position = findFieldIndex(creditCards, trait);
  return {
    ...fairMarket,
    price: (catalog, indexes, borrower) =>
      priceCards(catalog, indexes, borrower).map((priced) => ({
        ...priced,
        values: priced.values.map((value) => value! - (borrower[position]! % 2)),
      })),
  };
}

for (const trait of ['birthdate', 'citizenship_status', 'address_zip', 'employment_status']) {
  describe(`influence of ${trait}`, () => {
    test(`prices and orders of cards do not depend on ${trait}`, () => {
      const compared = assertFair(fairMarket, trait);
      assert.ok(compared > 200, `only ${compared} cards were compared`);
    });

    test(`the check detects a price and a score that depend on ${trait}`, () => {
      assert.throws(() => assertFair(createMarketWithSurcharge(trait), trait), /a price depends on/);
      assert.throws(() => assertFair(createMarketWithWeight(trait), trait), /the order recommended depends on/);
    });
  });
}

test('the ZIP code has no influence on the offered cards', () => {
  const random = seededRandom(7);
  const position = findFieldIndex(creditCards, 'address_zip');
  for (const catalog of catalogs) {
    const borrower = randomCardBorrower(random, 0);
    for (const value of [-1, 0, 94_110]) {
      assert.deepEqual(show(fairMarket, catalog, borrower.with(position, value)), show(fairMarket, catalog, borrower));
    }
  }
});

describe('influence of payouts', () => {
  /** Compares the orders of random borrowers before and after a change of all payouts. Returns how often `svc_revenue` differed. */
  function assertNoInfluence(market: Market): number {
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
        if (after.orders.svc_revenue!.join() !== before.orders.svc_revenue!.join()) differed++;
      }
    }
    return differed;
  }

  test('payouts influence only the order svc_revenue', () => {
    const differed = assertNoInfluence(fairMarket);
    assert.ok(differed > 100, `svc_revenue differed only ${differed} times`);
  });

  test('the check detects a weight of the payout', () => {
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
