import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { generateBankingCatalog } from '../../../bench/catalogs/generate-banking-catalog.ts';
import { sortOrderNames } from '../../../src/matching/matcher.ts';
import { createPricingRanker, type OfferRanker } from '../../../src/matching/pricing-ranker.ts';
import { banking } from '../../../src/verticals/banking/banking.ts';
import type { DepositTables } from '../../../src/verticals/banking/deposit-tables.ts';
import { calculateDepositPrices } from '../../../src/verticals/banking/deposit-view.ts';
import { depositPricer, rankDeposits } from '../../../src/verticals/banking/rank-deposits.ts';
import { type FieldVector, findFieldIndex } from '../../../src/verticals/field-vector.ts';
import { randomFieldValue, seededRandom } from '../../support/random-catalog.ts';
import { type CompiledDeposits, compileDeposits, drawDepositor, today } from './deposit-fixtures.ts';

/**
 * No protected or proxy trait changes a price or a rank, and no payout changes any order except `svc_revenue`
 * (docs/contract.md#fairness). Each check compares two borrowers who differ in one trait, and must fail for an unfair market.
 */
interface Market {
  readonly rank: OfferRanker<DepositTables>;
  readonly price: typeof calculateDepositPrices;
}

const fairMarket: Market = { rank: rankDeposits, price: calculateDepositPrices };

/** Catalogs in which at most 20 offers match, so that every matching offer is in every order. */
const files = Array.from({ length: 40 }, (_, seed) => generateBankingCatalog({ seed, offers: 60 }));
const catalogs: readonly CompiledDeposits[] = files.map(compileDeposits);

interface Shown {
  readonly orders: Readonly<Record<string, readonly string[]>>;
  /** Figures of the offers by offer id. */
  readonly prices: ReadonlyMap<string, unknown>;
}

function show(market: Market, catalog: CompiledDeposits, borrower: FieldVector): Shown {
  const { orders, total } = market.rank(catalog.tables, borrower, today, null);
  const idOf = (offer: number) => catalog.offers[offer]!.id;
  const places = orders.length / sortOrderNames.length;
  assert.equal(places, total, 'every matching offer must be in every order');
  return {
    orders: Object.fromEntries(
      sortOrderNames.map((sort, at) => [sort, [...orders.subarray(at * places, (at + 1) * places)].map(idOf)]),
    ),
    prices: new Map(
      market
        .price(catalog, orders.subarray(0, places), borrower)
        .map(({ index, slot, values }) => [idOf(index), [slot, values]]),
    ),
  };
}

/** Asserts that the common offers of two borrowers who differ in a trait have the same prices and order. Returns the number of compared offers. */
function assertFair(market: Market, trait: string): number {
  const random = seededRandom(20_260_801);
  const position = findFieldIndex(banking, trait);
  let compared = 0;
  for (const catalog of catalogs) {
    for (let pair = 0; pair < 15; pair++) {
      const borrower = drawDepositor(random, 0);
      const other = borrower.with(position, randomFieldValue(random, banking.fields[position]!));
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

/** Returns a market whose scores include a trait, with a weight that differs from offer to offer. */
function createMarketWithWeight(trait: string): Market {
  const position = findFieldIndex(banking, trait);
  let value = 0;
  const rank = createPricingRanker<DepositTables, ReturnType<typeof depositPricer.readApplicant>>({
    readApplicant(tables, borrower) {
      value = borrower[position]!;
      return depositPricer.readApplicant(tables, borrower);
    },
    computeSortKeys(tables, offer, applicant, keys) {
      const isAvailable = depositPricer.computeSortKeys(tables, offer, applicant!, keys);
      keys.recommended -= ((value * (offer + 1)) % 7) * 5_000_000;
      return isAvailable;
    },
  });
  return { ...fairMarket, rank };
}

/** Returns a market in which borrowers with every second value of a trait get other yields. */
function createMarketWithSurcharge(trait: string): Market {
  const position = findFieldIndex(banking, trait);
  return {
    ...fairMarket,
    price: (catalog, indexes, borrower) =>
      calculateDepositPrices(catalog, indexes, borrower).map((priced) => ({
        ...priced,
        values: priced.values.map((value) => value! - (borrower[position]! % 2)),
      })),
  };
}

for (const trait of ['birthdate', 'address_zip']) {
  describe(`influence of ${trait}`, () => {
    test(`prices and orders of deposits do not depend on ${trait}`, () => {
      const compared = assertFair(fairMarket, trait);
      assert.ok(compared > 1_000, `only ${compared} offers were compared`);
    });

    test(`the check detects a price and a score that depend on ${trait}`, () => {
      assert.throws(() => assertFair(createMarketWithSurcharge(trait), trait), /a price depends on/);
      assert.throws(() => assertFair(createMarketWithWeight(trait), trait), /the order recommended depends on/);
    });
  });
}

test('the ZIP code has no influence on the offered accounts', () => {
  const random = seededRandom(7);
  const position = findFieldIndex(banking, 'address_zip');
  for (const catalog of catalogs) {
    const borrower = drawDepositor(random, 0);
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
    for (const [at, file] of files.entries()) {
      const changed = structuredClone(file);
      for (const offer of changed.lenders.flatMap(({ offers }) => offers)) offer.payout_usd = 20 - offer.payout_usd;
      const other = compileDeposits(changed);
      for (let i = 0; i < 5; i++) {
        const borrower = drawDepositor(random, 0);
        const { svc_revenue: before, ...orders } = show(market, catalogs[at]!, borrower).orders;
        const { svc_revenue: after, ...otherOrders } = show(market, other, borrower).orders;
        assert.deepEqual(otherOrders, orders, 'an order depends on the payout');
        if (after!.join() !== before!.join()) differed++;
      }
    }
    return differed;
  }

  test('payouts change only the order svc_revenue', () => {
    assert.ok(assertNoInfluence(fairMarket) > 50);
  });

  test('the check detects a score that depends on the payout', () => {
    const rank = createPricingRanker<DepositTables, ReturnType<typeof depositPricer.readApplicant>>({
      readApplicant: (tables, borrower) => depositPricer.readApplicant(tables, borrower),
      computeSortKeys(tables, offer, applicant, keys) {
        const isAvailable = depositPricer.computeSortKeys(tables, offer, applicant!, keys);
        keys.recommended -= tables.expectedRevenueMicros[offer]!;
        return isAvailable;
      },
    });
    assert.throws(() => assertNoInfluence({ ...fairMarket, rank }), /an order depends on the payout/);
  });
});
