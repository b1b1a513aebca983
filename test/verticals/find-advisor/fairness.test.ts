import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { generateFindAdvisorCatalog } from '../../../bench/catalogs/generate-find-advisor-catalog.ts';
import { createPricingRanker } from '../../../src/matching/pricing-ranker.ts';
import type { AdvisorTables } from '../../../src/verticals/find-advisor/advisor-tables.ts';
import { calculateAdvisorFees } from '../../../src/verticals/find-advisor/advisor-view.ts';
import { findAdvisor } from '../../../src/verticals/find-advisor/find-advisor.ts';
import { advisorPricer, rankAdvisors } from '../../../src/verticals/find-advisor/rank-advisors.ts';
import { createFairnessChecks, type Market } from '../../matching/priced-rankings.ts';
import { seededRandom } from '../../support/random-catalog.ts';
import { compileAdvisors, drawVisitor, today } from './advisor-fixtures.ts';

const fairMarket: Market<AdvisorTables> = { rank: rankAdvisors, price: calculateAdvisorFees };

/** Catalogs in which at most 20 offers match, so that every matching offer is in every order. */
const files = Array.from({ length: 40 }, (_, seed) => generateFindAdvisorCatalog({ seed, offers: 40 }));
const catalogs = files.map(compileAdvisors);
const { show, assertFair, assertZipCodeIgnored, createMarketWithWeight, createMarketWithSurcharge } =
  createFairnessChecks({
    vertical: findAdvisor,
    fairMarket,
    pricer: advisorPricer,
    catalogs,
    drawBorrower: (random) => drawVisitor(random, 0),
    today,
    weight: 5_000_000,
  });

for (const trait of ['birthdate', 'address_zip']) {
  describe(`influence of ${trait}`, () => {
    test(`fees and orders of advisors do not depend on ${trait}`, () => {
      const compared = assertFair(fairMarket, trait);
      assert.ok(compared > 1_000, `only ${compared} offers were compared`);
    });

    test(`the check detects a price and a score that depend on ${trait}`, () => {
      assert.throws(() => assertFair(createMarketWithSurcharge(trait), trait), /a price depends on/);
      assert.throws(() => assertFair(createMarketWithWeight(trait), trait), /the order recommended depends on/);
    });
  });
}

test('the ZIP code has no influence on the shown advisors', assertZipCodeIgnored);

describe('influence of payouts', () => {
  /** Compares the orders of random visitors before and after a change of all payouts. Returns how often `svc_revenue` differed. */
  function assertNoInfluence(market: Market<AdvisorTables>): number {
    const random = seededRandom(11);
    let differed = 0;
    for (const [at, file] of files.entries()) {
      const changed = structuredClone(file);
      for (const offer of changed.lenders.flatMap(({ offers }) => offers)) {
        Object.assign(offer, { payout_usd: 500 - offer.payout_usd, confirm_rate: 1 - offer.confirm_rate });
      }
      const other = compileAdvisors(changed);
      for (let i = 0; i < 5; i++) {
        const borrower = drawVisitor(random, 0);
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
    const rank = createPricingRanker<AdvisorTables, ReturnType<typeof advisorPricer.readApplicant>>({
      readApplicant: (tables, borrower) => advisorPricer.readApplicant(tables, borrower),
      computeSortKeys(tables, offer, applicant, keys) {
        const isAvailable = advisorPricer.computeSortKeys(tables, offer, applicant!, keys);
        keys.recommended -= tables.payoutMicros[offer]!;
        return isAvailable;
      },
    });
    assert.throws(() => assertNoInfluence({ ...fairMarket, rank }), /an order depends on the payout/);
  });
});
