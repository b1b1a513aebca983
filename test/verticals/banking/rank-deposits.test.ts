import assert from 'node:assert/strict';
import { test } from 'node:test';
import { generateBankingCatalog } from '../../../bench/catalogs/generate-banking-catalog.ts';
import { sortOrderNames } from '../../../src/matching/matcher.ts';
import { addOffer, emptyOfferSet } from '../../../src/matching/offer-set.ts';
import { createOfferUrls } from '../../../src/operations/click-url.ts';
import { banking } from '../../../src/verticals/banking/banking.ts';
import { calculateDepositPrices } from '../../../src/verticals/banking/deposit-view.ts';
import { rankDeposits } from '../../../src/verticals/banking/rank-deposits.ts';
import { findFieldIndex } from '../../../src/verticals/field-vector.ts';
import { randomBorrower, seededRandom } from '../../support/random-catalog.ts';
import { compileDeposits, depositCatalogOf, depositorOf, depositWithRates, saver, today } from './deposit-fixtures.ts';
import { referenceDeposits, referenceOrder } from './reference-deposits.ts';
import { slowFirstYearEarnings } from './slow-interest.ts';

test('ranks random catalogs in the same orders as a reference that prices and sorts every offer', () => {
  const random = seededRandom(4);
  let compared = 0;
  for (let seed = 1; seed <= 12; seed++) {
    const catalog = generateBankingCatalog({ seed, offers: 120 });
    const compiled = compileDeposits(catalog);
    for (let draw = 0; draw < 40; draw++) {
      const borrower = randomBorrower(random, banking);
      const matches = referenceDeposits(catalog, borrower);
      const unavailable = draw % 4 === 0 ? emptyOfferSet(compiled.offers.length) : null;
      if (unavailable !== null) addOffer(unavailable, Math.floor(random() * compiled.offers.length));
      const isOpen = (id: string) => {
        const index = compiled.findOfferIndex(id);
        return unavailable === null || (unavailable[index >>> 5]! & (1 << (index & 31))) === 0;
      };
      const ranked = rankDeposits(compiled.tables, borrower, today, unavailable);
      assert.equal(ranked.total, matches.filter(({ id }) => isOpen(id)).length);
      const ranking = ranked.availableOnly ? matches.filter(({ id }) => isOpen(id)) : matches;
      assert.deepEqual(
        [...ranked.orders].map((offer) => compiled.offers[offer]!.id),
        sortOrderNames.flatMap((sort) => referenceOrder(ranking, sort).slice(0, compiled.tables.orderLength)),
      );
      compared += matches.length;
    }
  }
  assert.ok(compared > 500, `${compared} offers`);
});

test('first_year_earnings equal a slow simulation of interest, bonus and fees within a cent', () => {
  const conditions = { directDeposit: true, newCustomer: true };
  for (const compounding of ['daily', 'monthly', 'quarterly', 'annual'] as const) {
    for (const tier_method of ['whole_balance', 'marginal'] as const) {
      const rates = [5.25, 5.5, 5.75].map((rate, at) => ({ from: [0, 2_500, 15_000][at]!, rate }));
      const offer = depositWithRates(rates, { compounding, tier_method, monthly_fee: 4.5, fee_waived_from: 5_000 });
      const compiled = compileDeposits(depositCatalogOf([offer]));
      for (const deposit_amount of [100, 2_499, 2_500, 8_000, 20_000]) {
        const borrower = depositorOf({ ...saver, deposit_amount });
        const [, , earnings] = calculateDepositPrices(compiled, [0], borrower)[0]!.values;
        const expected = slowFirstYearEarnings(offer, deposit_amount, conditions);
        assert.ok(Math.abs(earnings! - expected) <= 0.01, `${earnings} instead of ${expected}`);
      }
    }
  }
});

test('renders the same offers as text and as objects', () => {
  const compiled = compileDeposits(generateBankingCatalog({ seed: 9, offers: 60 }));
  const borrower = depositorOf(saver);
  const { orders } = rankDeposits(compiled.tables, borrower, today, null);
  const offers = calculateDepositPrices(compiled, orders.slice(0, 5), borrower);
  const urls = createOfferUrls({ click: 'https://go.example', cdn: 'https://cdn.example' });
  const list = { catalog: compiled, offers, subId: 'sub_1', clickToken: 'token' };
  const renderer = compiled.offerRenderer(urls.logos);
  assert.ok(offers.length > 0);
  assert.equal(renderer.renderOffersJson(list, urls), JSON.stringify(renderer.createOfferViews(list, urls)));
});

test('ZIP code and the age of adults change no order and no price', () => {
  const random = seededRandom(8);
  const compiled = compileDeposits(generateBankingCatalog({ seed: 3, offers: 200 }));
  const [born, zip] = ['birthdate', 'address_zip'].map((name) => findFieldIndex(banking, name)) as [number, number];
  for (let draw = 0; draw < 200; draw++) {
    const borrower = randomBorrower(random, banking).with(born, 19_500_101);
    const other = borrower.with(born, 19_450_101).with(zip, 90_210);
    const [one, two] = [borrower, other].map((each) => rankDeposits(compiled.tables, each, today, null));
    assert.deepEqual(one, two);
    const prices = [borrower, other].map((each) => calculateDepositPrices(compiled, one!.orders, each));
    assert.deepEqual(prices[0], prices[1]);
  }
});
