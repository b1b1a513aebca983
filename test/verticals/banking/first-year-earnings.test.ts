import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { generateBankingCatalog } from '../../../bench/catalogs/generate-banking-catalog.ts';
import type { DepositOffer } from '../../../src/verticals/banking/offer-schema.ts';
import { createEmptyDepositOfferFigures, priceDeposit } from '../../../src/verticals/banking/price-deposit.ts';
import {
  computeDepositIndependentScore,
  computeRecommendationScore,
} from '../../../src/verticals/banking/recommendation-score.ts';
import { compileDeposits, depositCatalogOf, depositWithRates, plainDeposit } from './deposit-fixtures.ts';
import { slowFirstYearEarnings } from './slow-interest.ts';

/** Prices a single offer. `conditionsMet`: 1 for a direct deposit, 2 for a new customer, 3 for both. */
function priceOf(offer: DepositOffer, deposit: number, conditionsMet = 0) {
  const price = createEmptyDepositOfferFigures();
  const { tables } = compileDeposits(depositCatalogOf([offer]));
  return priceDeposit(tables, 0, { deposit, conditionsMet }, price) ? price : null;
}

test('earnings differ by at most a cent from a period-by-period simulation', () => {
  let priced = 0;
  fc.assert(
    fc.property(fc.nat(), fc.integer({ min: 0, max: 10_000_000 }), fc.nat(3), (seed, amount, conditionsMet) => {
      const file = generateBankingCatalog({ seed, offers: 20 });
      const { tables, offers } = compileDeposits(file);
      const price = createEmptyDepositOfferFigures();
      for (const [index, { source, id }] of offers.entries()) {
        for (const deposit of [amount, amount % 20_000]) {
          if (!priceDeposit(tables, index, { deposit, conditionsMet }, price)) continue;
          const conditions = { directDeposit: (conditionsMet & 1) !== 0, newCustomer: (conditionsMet & 2) !== 0 };
          const slow = slowFirstYearEarnings(source as DepositOffer, deposit, conditions);
          assert.ok(Math.abs(price.earningsCents - slow * 100) < 1, `${id}: ${price.earningsCents}, not ${slow * 100}`);
          priced++;
        }
      }
    }),
    { seed: 18, numRuns: 60 },
  );
  assert.ok(priced > 1_000);
});

test('interest of exactly half a cent in marginal tiers is rounded up', () => {
  const tiers = [
    { from: 0, rate: 0.05 },
    { from: 52_830, rate: 1.61 },
  ];
  // 0.05 % of 52,830 USD are 26.415 USD.
  assert.equal(priceOf(depositWithRates(tiers, { tier_method: 'marginal' }), 52_830)!.earningsCents, 2_642);
});

test('a deposit below fee_waived_from pays the monthly fee for the first year, or until an earlier maturity', () => {
  const cd = plainDeposit({ product_type: 'cd', term_months: 3, compounding: 'monthly', monthly_fee: 5 });
  const free = { ...cd, tiers: [{ from: 0, rate: 0, apy: 0 }], fee_waived_from: 2_000 };
  assert.equal(priceOf(free, 1_999)!.earningsCents, -1_500);
  assert.equal(priceOf(free, 2_000)!.earningsCents, 0);
  // 4 % for three of twelve months, compounded monthly, is 1.0033 % of 1,999 USD.
  assert.equal(priceOf(cd, 1_999)!.earningsCents, 2_006 - 1_500);
});

// The example of docs/verticals/banking.md#recommended-score.
test('the score is 0.7 for earnings of 600 USD on 12,000 USD without a fee and with five stars', () => {
  assert.equal(computeRecommendationScore(12_000, 60_000, computeDepositIndependentScore(0, 5)), 70_000_000);
});

test('a higher fee lowers the score, a small deposit counts as 1,000 USD, and a loss counts as no earnings', () => {
  const scoreOf = (deposit: number, earningsCents: number, feeCents: number) =>
    computeRecommendationScore(deposit, earningsCents, computeDepositIndependentScore(feeCents, 3)) / 1e6;
  assert.equal(scoreOf(1_000, 0, 0), 30);
  assert.equal(scoreOf(1_000, -5_000, 500), 26);
  assert.equal(scoreOf(1_000, 0, 2_500), 10);
  assert.equal(scoreOf(1_000, 0, 9_900), 10);
  assert.equal(scoreOf(0, 5_000, 0), 60);
  assert.equal(scoreOf(1_000, 5_000, 0), 60);
  assert.equal(scoreOf(10_000, 50_000, 0), 60);
});
