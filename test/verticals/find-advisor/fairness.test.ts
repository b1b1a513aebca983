import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { generateFindAdvisorCatalog } from '../../../bench/catalogs/generate-find-advisor-catalog.ts';
import type { AdvisorTables } from '../../../src/verticals/find-advisor/advisor-tables.ts';
import { calculateAdvisorFees } from '../../../src/verticals/find-advisor/advisor-view.ts';
import { findAdvisor } from '../../../src/verticals/find-advisor/find-advisor.ts';
import { advisorPricer, rankAdvisors } from '../../../src/verticals/find-advisor/rank-advisors.ts';
import { createFairnessChecks, type Market } from '../../matching/priced-rankings.ts';
import { compileAdvisors, drawVisitor, today } from './advisor-fixtures.ts';

const fairMarket: Market<AdvisorTables> = { rank: rankAdvisors, price: calculateAdvisorFees };

/** Catalogs in which at most 20 offers match, so that every matching offer is in every order. */
const files = Array.from({ length: 40 }, (_, seed) => generateFindAdvisorCatalog({ seed, offers: 40 }));
const catalogs = files.map(compileAdvisors);
const { testTraits, assertOnlyRevenueOrderDiffers, createMarketWithPayout } = createFairnessChecks({
  vertical: findAdvisor,
  fairMarket,
  pricer: advisorPricer,
  catalogs,
  drawBorrower: (random) => drawVisitor(random, 0),
  today,
  weight: 5_000_000,
});

testTraits(['birthdate', 'address_zip'], 1_000);

describe('influence of payouts', () => {
  const copies = files.map((file) => {
    const changed = structuredClone(file);
    for (const offer of changed.lenders.flatMap(({ offers }) => offers)) {
      Object.assign(offer, { payout_usd: 500 - offer.payout_usd, confirm_rate: 1 - offer.confirm_rate });
    }
    return compileAdvisors(changed);
  });

  test('payouts change only the order svc_revenue', () => {
    assert.ok(assertOnlyRevenueOrderDiffers(fairMarket, copies) > 50);
  });

  test('the check detects a score that depends on the payout', () => {
    const market = createMarketWithPayout((tables, offer) => tables.payoutMicros[offer]!);
    assert.throws(() => assertOnlyRevenueOrderDiffers(market, copies), /an order depends on the payout/);
  });
});
