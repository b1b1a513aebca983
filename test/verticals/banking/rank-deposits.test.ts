import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTiersWithYields, generateBankingCatalog } from '../../../bench/catalogs/generate-banking-catalog.ts';
import { calculateDepositPrices } from '../../../src/verticals/banking/deposit-view.ts';
import type { DepositCatalog } from '../../../src/verticals/banking/offer-schema.ts';
import { depositPricer, rankDeposits } from '../../../src/verticals/banking/rank-deposits.ts';
import { scoresOf } from '../../matching/loan-fixtures.ts';
import { compareWithReference, explainReasons, idsOf } from '../../matching/priced-rankings.ts';
import { seededRandom } from '../../support/random-catalog.ts';
import {
  compileDeposits,
  depositCatalogOf,
  depositorOf,
  drawDepositor,
  plainDeposit,
  saver,
  today,
} from './deposit-fixtures.ts';
import { depositOrders, referenceDeposits } from './reference-deposits.ts';

/** Generates a catalog. In every second catalog, all offers are savings accounts with few different rates, so that many are equal. */
function drawCatalog(seed: number, count: number): DepositCatalog {
  const catalog = generateBankingCatalog({ seed, offers: count });
  if (seed % 2 === 0) return catalog;
  const random = seededRandom(seed);
  for (const offer of catalog.lenders.flatMap(({ offers }) => offers)) {
    Object.assign(offer, {
      product_type: 'savings',
      criteria: offer.criteria.filter(() => random() < 0.2),
      stars: Math.round(offer.stars),
      payout_usd: Math.ceil(offer.payout_usd / 5),
    });
    delete offer.term_months;
    delete offer.early_withdrawal_penalty_days;
    const tiers = offer.tiers.slice(0, 2).map(({ from, rate }) => ({ from, rate: Math.round(rate), apy: 0 }));
    offer.tiers = createTiersWithYields({ ...offer, tiers });
  }
  return catalog;
}

test('ranks random catalogs in the same orders as a reference that prices and sorts every offer', () =>
  compareWithReference({
    seed: 18,
    numRuns: 60,
    offersMax: 300,
    today,
    rank: rankDeposits,
    compare: depositOrders,
    drawCatalog,
    compile: compileDeposits,
    drawBorrower: drawDepositor,
    findMatches: referenceDeposits,
    checkFigures(compiled, offers, borrower, matches) {
      for (const { index, slot, values } of calculateDepositPrices(compiled, offers, borrower)) {
        const { apy, rate, earnings, bonus } = matches.get(compiled.offers[index]!.id)!;
        assert.deepEqual([values, slot % 2 === 1], [[apy, rate, earnings], bonus !== null]);
      }
    },
  }));

// The example of docs/verticals/banking.md#example.
test('each order ranks the offers of the documented example by its own measure', () => {
  const tiers = (rate: number) => [{ from: 0, rate, apy: rate }];
  const bonus = { amount: 300, requirement: 'Keep the deposit for 90 days', days: 90, new_customer: true as const };
  const compiled = compileDeposits(
    depositCatalogOf([
      plainDeposit({ id: 'a', tiers: tiers(4), stars: 5, payout_usd: 5 }),
      plainDeposit({ id: 'b', tiers: tiers(3), stars: 3, payout_usd: 12, monthly_fee: 10, bonus }),
      plainDeposit({ id: 'c', tiers: tiers(4.5), stars: 4, payout_usd: 8, monthly_fee: 5 }),
    ]),
  );
  const ordersOf = (new_customer: boolean | null) => {
    const borrower = depositorOf({ ...saver, new_customer });
    const { orders } = rankDeposits(compiled.tables, borrower, today, null);
    return {
      orders: idsOf(compiled, orders).join(''),
      values: calculateDepositPrices(compiled, [0, 1, 2], borrower).map(({ values }) => values),
      scores: [...scoresOf(compiled, borrower, depositPricer).values()],
    };
  };
  assert.deepEqual(ordersOf(true), {
    orders: 'acbcabbacbca',
    values: [
      [4, 4, 400],
      [3, 3, 480],
      [4.5, 4.5, 390],
    ],
    scores: [66_666_640, 51_387_760, 57_292_120],
  });
  const other = ordersOf(null);
  assert.equal(other.orders.slice(6, 9), 'acb');
  assert.deepEqual(other.values[1], [3, 3, 180]);
});

test('offers a certificate of deposit only for its own term, and reports the reasons', async () => {
  const cd = (term_months: number) => plainDeposit({ id: `cd-${term_months}`, product_type: 'cd', term_months });
  const compiled = compileDeposits(
    depositCatalogOf([cd(6), cd(12), plainDeposit({ id: 'savings', minimum_deposit: 20_000 })]),
  );
  const explain = (fields: object) => explainReasons(compiled, depositorOf({ ...saver, ...fields }), today);
  assert.deepEqual(await explain({ product_type: 'cd', cd_term_months: 12 }), [
    1,
    'amount_too_low deposit_amount 1',
    'not_accepted cd_term_months 1',
    'not_accepted product_type 1',
  ]);
  assert.deepEqual(await explain({ deposit_amount: 20_000 }), [1, 'not_accepted product_type 2']);
  assert.deepEqual(await explain({ product_type: 'cd', deposit_amount: 20_000 }), [
    0,
    'not_told cd_term_months 3',
    'not_accepted product_type 1',
  ]);
  assert.deepEqual(await explain({ deposit_amount: null, cd_term_months: 6 }), [
    0,
    'not_told deposit_amount 3',
    'not_accepted product_type 2',
    'not_accepted cd_term_months 1',
  ]);
});
