import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { generateBankingCatalog } from '../../../bench/catalogs/generate-banking-catalog.ts';
import { createPricingRanker } from '../../../src/matching/pricing-ranker.ts';
import { banking } from '../../../src/verticals/banking/banking.ts';
import type { DepositTables } from '../../../src/verticals/banking/deposit-tables.ts';
import { calculateDepositPrices } from '../../../src/verticals/banking/deposit-view.ts';
import { depositPricer, rankDeposits } from '../../../src/verticals/banking/rank-deposits.ts';
import { createFairnessChecks, type Market } from '../../matching/priced-rankings.ts';
import { seededRandom } from '../../support/random-catalog.ts';
import { compileDeposits, drawDepositor, today } from './deposit-fixtures.ts';

const fairMarket: Market<DepositTables> = { rank: rankDeposits, price: calculateDepositPrices };

/** Catalogs in which at most 20 offers match, so that every matching offer is in every order. */
const files = Array.from({ length: 40 }, (_, seed) => generateBankingCatalog({ seed, offers: 60 }));
const catalogs = files.map(compileDeposits);
const { show, assertFair, assertZipCodeIgnored, createMarketWithWeight, createMarketWithSurcharge } =
  createFairnessChecks({
    vertical: banking,
    fairMarket,
    pricer: depositPricer,
    catalogs,
    drawBorrower: (random) => drawDepositor(random, 0),
    today,
    weight: 5_000_000,
  });

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

test('the ZIP code has no influence on the offered accounts', assertZipCodeIgnored);

describe('influence of payouts', () => {
  /** Compares the orders of random depositors before and after a change of all payouts. Returns how often `svc_revenue` differed. */
  function assertNoInfluence(market: Market<DepositTables>): number {
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
        if (after.join() !== before.join()) differed++;
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
