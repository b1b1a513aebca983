import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { generateBankingCatalog } from '../../../bench/catalogs/generate-banking-catalog.ts';
import { banking } from '../../../src/verticals/banking/banking.ts';
import type { DepositTables } from '../../../src/verticals/banking/deposit-tables.ts';
import { calculateDepositPrices } from '../../../src/verticals/banking/deposit-view.ts';
import { depositPricer, rankDeposits } from '../../../src/verticals/banking/rank-deposits.ts';
import { createFairnessChecks, type Market } from '../../matching/priced-rankings.ts';
import { compileDeposits, drawDepositor, today } from './deposit-fixtures.ts';

const fairMarket: Market<DepositTables> = { rank: rankDeposits, price: calculateDepositPrices };

/** Catalogs in which at most 20 offers match, so that every matching offer is in every order. */
const files = Array.from({ length: 40 }, (_, seed) => generateBankingCatalog({ seed, offers: 60 }));
const catalogs = files.map(compileDeposits);
const { testTraits, assertOnlyRevenueOrderDiffers, createMarketWithPayout } = createFairnessChecks({
  vertical: banking,
  fairMarket,
  pricer: depositPricer,
  catalogs,
  drawBorrower: (random) => drawDepositor(random, 0),
  today,
  weight: 5_000_000,
});

testTraits(['birthdate', 'address_zip'], 1_000);

describe('influence of payouts', () => {
  const copies = files.map((file) => {
    const changed = structuredClone(file);
    for (const offer of changed.lenders.flatMap(({ offers }) => offers)) offer.payout_usd = 20 - offer.payout_usd;
    return compileDeposits(changed);
  });

  test('payouts change only the order svc_revenue', () => {
    assert.ok(assertOnlyRevenueOrderDiffers(fairMarket, copies) > 50);
  });

  test('the check detects a score that depends on the payout', () => {
    const market = createMarketWithPayout((tables, offer) => tables.expectedRevenueMicros[offer]!);
    assert.throws(() => assertOnlyRevenueOrderDiffers(market, copies), /an order depends on the payout/);
  });
});
