import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { rowOf } from '../../../src/matching/match-tables.ts';
import { mortgage } from '../../../src/verticals/mortgage/mortgage.ts';
import type { MortgageTables } from '../../../src/verticals/mortgage/mortgage-tables.ts';
import { priceMortgages } from '../../../src/verticals/mortgage/offer-view.ts';
import { mortgagePricer, rankMortgages } from '../../../src/verticals/mortgage/rank-mortgages.ts';
import { createFairnessChecks, type Market } from '../../matching/priced-rankings.ts';
import { seededRandom } from '../../support/random-catalog.ts';
import { compileMortgages, drawBorrower, generateMortgages, today } from './mortgage-fixtures.ts';

const fairMarket: Market<MortgageTables> = { rank: rankMortgages, price: priceMortgages };

/** Catalogs in which at most 20 offers match, so that every matching offer is in every order. */
const files = Array.from({ length: 150 }, (_, seed) => generateMortgages(seed, 20));
const catalogs = files.map(compileMortgages);
const { show, testTraits, createMarketWithPayout } = createFairnessChecks({
  vertical: mortgage,
  fairMarket,
  pricer: mortgagePricer,
  catalogs,
  drawBorrower,
  today,
  weight: 50_000,
});

testTraits(['birthdate', 'address_zip'], 1_000);

describe('influence of payouts', () => {
  /** Asserts that a change of all payouts changes no order. Returns the number of compared offers. */
  function assertNoInfluence(market: Market<MortgageTables>): number {
    const random = seededRandom(11);
    let compared = 0;
    for (const [at, file] of files.entries()) {
      const changed = structuredClone(file);
      const offers = changed.lenders.flatMap((lender) => lender.offers);
      for (const [number, offer] of offers.entries()) offer.payout_usd = 10 + ((number * 37) % 90);
      const other = compileMortgages(changed);
      for (let i = 0; i < 5; i++) {
        const borrower = drawBorrower(random);
        const { orders } = show(market, catalogs[at]!, borrower);
        assert.deepEqual(show(market, other, borrower).orders, orders, 'an order depends on the payout');
        compared += orders.recommended.length;
      }
    }
    return compared;
  }

  test('payouts change no order of mortgages', () => {
    const compared = assertNoInfluence(fairMarket);
    assert.ok(compared > 300, `only ${compared} offers were compared`);
  });

  test('the check detects a score that depends on the payout', () => {
    const market = createMarketWithPayout(
      (tables, offer, applicant) => tables.expectedRevenueMicros[rowOf(tables, offer, applicant!.creditBand)]!,
    );
    assert.throws(() => assertNoInfluence(market), /an order depends on the payout/);
  });
});
