import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { roundHalfUp } from '../../../src/domain/money.ts';
import { usStateCodes } from '../../../src/domain/us-states.ts';
import { computeTierYields } from '../../../src/verticals/banking/annual-yield.ts';
import { banking } from '../../../src/verticals/banking/banking.ts';
import { computeDepositStatistics } from '../../../src/verticals/banking/catalog-statistics.ts';
import type { DepositCatalog, DepositOffer } from '../../../src/verticals/banking/offer-schema.ts';
import { rankDeposits } from '../../../src/verticals/banking/rank-deposits.ts';
import { listOffers, readBuiltInCatalog } from '../built-in-catalogs.ts';
import { compileDeposits, depositorOf, saver, today } from './deposit-fixtures.ts';

const cdTerms = [3, 6, 9, 12, 18, 24, 36, 48, 60];

const read = (kind: 'example' | 'sandbox') => readBuiltInCatalog<DepositCatalog>(banking, kind);

const dollars = (amount: number) => `$${amount.toLocaleString('en-US')}`;

/** Returns the yields of an offer with several tiers as its disclosure must state them: ranges for marginal tiers. */
function listTierYields(offer: DepositOffer): string {
  const { tiers, tier_method, minimum_balance_for_apy } = offer;
  return tiers
    .map(({ from, rate, apy }, at) => {
      // The yield of the last marginal tier approaches the yield of its rate.
      const [limit] = computeTierYields({ ...offer, tiers: [{ from: 0, rate }] });
      const end = tier_method === 'marginal' ? (tiers[at + 1]?.apy ?? roundHalfUp(limit!, 2)) : apy;
      const yields = [...new Set([apy, end])].map((percent) => `${percent.toFixed(2)}%`);
      return `${yields.join(' to ')} from ${dollars(Math.max(from, minimum_balance_for_apy))}`;
    })
    .join(', ');
}

for (const kind of ['example', 'sandbox'] as const) {
  test(`the disclosures of the ${kind} catalog contain the names of the accounts`, () => {
    for (const { id, legal, name } of listOffers(read(kind))) {
      assert.match(legal, new RegExp(`(^|: | on | for )${name}( by | of |, accurate|\\. Annual)`), id);
    }
  });

  test(`the disclosures of the ${kind} catalog state the yields of all tiers, the insurer and the conditions`, () => {
    for (const offer of listOffers(read(kind))) {
      const { id, legal, tiers, insured_by, criteria } = offer;
      assert.equal(legal.match(/annual percentage yield/gi)?.length, 1, id);
      assert.ok(legal.includes(insured_by === 'fdic' ? 'Member FDIC' : 'Federally insured by NCUA'), id);
      if (tiers.length > 1)
        assert.ok(legal.includes(`: ${listTierYields(offer)}; `), `${id}: ${listTierYields(offer)}`);
      const needs = (name: string) => criteria.some(({ field }) => field === name);
      assert.equal(legal.includes('Requires a direct deposit.'), needs('direct_deposit'), id);
      assert.equal(legal.includes('For new customers only.'), needs('new_customer'), id);
      const age = criteria.find(({ field }) => field === 'birthdate')?.min_age;
      assert.equal(legal.match(/For customers aged (\d+) or older\./)?.[1], age?.toString(), id);
    }
  });
}

describe('the example catalog of banking', () => {
  const catalog = read('example');
  const compiled = compileDeposits(catalog);
  const offers = listOffers(catalog);
  const totalFor = (fields: object) =>
    rankDeposits(compiled.tables, depositorOf({ ...saver, ...fields }), today, null).total;

  test('has at least 76 offers of 26 institutions, of all kinds and terms', () => {
    assert.ok(offers.length >= 76 && catalog.lenders.length >= 26);
    for (const type of ['savings', 'checking', 'money_market']) {
      assert.ok(offers.filter(({ product_type }) => product_type === type).length >= 12, type);
    }
    for (const term of cdTerms)
      assert.ok(offers.filter(({ term_months }) => term_months === term).length >= 4, `${term}`);
  });

  test('every institution has one insurer and one certificate number with more digits than real ones have', () => {
    const numbers = catalog.lenders.map(({ name, offers: own }) => {
      const marks = new Set(own.map(({ insured_by, certificate_number }) => `${insured_by} ${certificate_number}`));
      assert.equal(marks.size, 1, name);
      assert.match([...marks][0]!, /Credit Union/.test(name) ? /^ncua 9\d{5}$/ : /^fdic 9\d{5}$/, name);
      return [...marks][0];
    });
    assert.equal(new Set(numbers).size, numbers.length);
  });

  test('every disclosure states yields, fees and bonuses as the offer does', () => {
    for (const { id, legal, tiers, as_of, monthly_fee, bonus } of offers) {
      assert.ok(legal.includes(as_of), id);
      for (const { apy } of tiers) assert.ok(legal.includes(`${apy.toFixed(2)}%`), id);
      assert.equal(/Monthly fee/.test(legal), monthly_fee > 0, id);
      assert.equal(/Bonus of/.test(legal), bonus !== undefined, id);
    }
  });

  test('the requirement of a bonus does not repeat its deadline', () => {
    for (const { id, bonus } of offers) {
      if (bonus !== undefined) assert.ok(!bonus.requirement.includes(`${bonus.days} days`), id);
    }
  });

  test('no offer with a monthly fee is called free', () => {
    for (const { id, features, legal, monthly_fee } of offers.filter((offer) => offer.monthly_fee > 0)) {
      assert.ok(!features.includes('no_monthly_fee') && !/free|no cost/i.test(legal), `${id}: ${monthly_fee}`);
    }
  });

  test('about a third of the offers have a budget', () => {
    const paced = offers.filter(({ budget }) => budget !== undefined).length;
    assert.ok(paced >= offers.length / 4 && paced <= offers.length / 2, `${paced}`);
  });

  test('a depositor with 10,000 USD gets at least eight offers of every kind of account and three certificates of every term', () => {
    for (const state of usStateCodes.filter((code) => !['PR', 'GU', 'VI', 'AS', 'MP'].includes(code))) {
      for (const product_type of ['savings', 'checking', 'money_market']) {
        assert.ok(totalFor({ product_type, state, direct_deposit: true }) >= 8, `${product_type} in ${state}`);
      }
      for (const cd_term_months of cdTerms) {
        assert.ok(totalFor({ product_type: 'cd', cd_term_months, state }) >= 3, `${cd_term_months} months in ${state}`);
      }
    }
  });

  test('the statistics have one group for each account and term', () => {
    const { groups, payouts, using } = computeDepositStatistics(catalog, banking);
    assert.deepEqual(
      groups.map(({ name }) => name),
      ['savings', 'checking', 'money_market', ...cdTerms.map((term) => `cd ${term} months`)],
    );
    assert.equal(
      groups.reduce((sum, group) => sum + group.offers, 0),
      offers.length,
    );
    for (const { figures } of groups) assert.ok(figures.apy_percent!.max >= figures.rate_percent!.max);
    assert.equal(payouts.cost_per_click.offers, offers.length);
    assert.equal(using.bonus, offers.filter(({ bonus }) => bonus !== undefined).length);
  });
});

describe('the sandbox catalog of banking', () => {
  const catalog = read('sandbox');
  const compiled = compileDeposits(catalog);
  const idsFor = (fields: object) => {
    const { orders, total } = rankDeposits(compiled.tables, depositorOf({ ...saver, ...fields }), today, null);
    return Array.from(orders.subarray(0, total), (offer) => compiled.offers[offer]!.id).sort();
  };

  test('has 12 to 16 offers', () => {
    assert.ok(listOffers(catalog).length >= 12 && listOffers(catalog).length <= 16);
  });

  test('has the same offers for every adult in every state, except for offers with a condition', () => {
    for (const state of usStateCodes) {
      assert.deepEqual(idsFor({ state }), ['sandbox-alpha-savings', 'sandbox-alpha-tiers', 'sandbox-bravo-marginal']);
      const cds = (cd_term_months: number) => idsFor({ state, product_type: 'cd', cd_term_months }).length;
      assert.deepEqual(cdTerms.map(cds), [0, 1, 0, 3, 0, 0, 0, 0, 1]);
    }
  });

  for (const [id, shown, hidden] of [
    ['sandbox-bravo-direct-deposit', { direct_deposit: true }, {}],
    ['sandbox-echo-age-21', { birthdate: '2005-08-01' }, { birthdate: '2005-08-02' }],
    [
      'sandbox-charlie-checking',
      { product_type: 'checking', deposit_amount: 25 },
      { product_type: 'checking', deposit_amount: 24 },
    ],
    ['sandbox-echo-money-market-ca', { product_type: 'money_market' }, { product_type: 'money_market', state: 'NV' }],
    ['sandbox-bravo-cd-6', { product_type: 'cd', cd_term_months: 6 }, { product_type: 'cd', cd_term_months: 12 }],
  ] as const) {
    test(`the sandbox offer ${id} is available only to depositors who meet its condition`, () => {
      assert.deepEqual([idsFor(shown).includes(id), idsFor(hidden).includes(id)], [true, false]);
    });
  }
});
