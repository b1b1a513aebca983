import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { getChoiceValues } from '../../../src/domain/field-vector.ts';
import { usStateCodes } from '../../../src/domain/us-states.ts';
import { computeAdvisorStatistics } from '../../../src/verticals/find-advisor/catalog-statistics.ts';
import { findAdvisor } from '../../../src/verticals/find-advisor/find-advisor.ts';
import type { AdvisorCatalog } from '../../../src/verticals/find-advisor/offer-schema.ts';
import { rankAdvisors } from '../../../src/verticals/find-advisor/rank-advisors.ts';
import { listOffers, readBuiltInCatalog } from '../built-in-catalogs.ts';
import { compileAdvisors, saver, today, visitorOf } from './advisor-fixtures.ts';

const topics = getChoiceValues(findAdvisor, 'advice_topic');

const read = (kind: 'example' | 'sandbox') => readBuiltInCatalog<AdvisorCatalog>(findAdvisor, kind);

for (const kind of ['example', 'sandbox'] as const) {
  test(`the compensation disclosures of the ${kind} catalog name the firm and the amount that it pays`, () => {
    for (const { name, offers } of read(kind).lenders) {
      for (const { id, legal, payout_usd, compensation_disclosure: text } of offers) {
        assert.ok(legal.includes(name) && text.includes(name), id);
        assert.match(text, new RegExp(`pays? us \\$${payout_usd} .*, whether or not you hire the advisor`), id);
        assert.match(text, /are not (?:a|its) client/, id);
      }
    }
  });
}

describe('the example catalog of financial advisors', () => {
  const catalog = read('example');
  const compiled = compileAdvisors(catalog);
  const offers = listOffers(catalog);

  test('has at least 40 advisors of 25 firms, of all kinds, and only hosts of the reserved domain', () => {
    assert.ok(offers.length >= 40 && catalog.lenders.length >= 25);
    const kinds = new Set(offers.flatMap(({ firm_type, fee_model, meeting }) => [firm_type, fee_model, meeting]));
    assert.equal(kinds.size, 10);
    for (const { disclosures_url } of offers) assert.match(new URL(disclosures_url).hostname, /\.example$/);
  });

  test('every firm has one type and one relationship summary, and CRD numbers have more digits than real ones have', () => {
    const numbers = catalog.lenders.flatMap(({ name, offers: own }) => {
      assert.equal(
        new Set(own.map(({ firm_type, disclosures_url }) => `${firm_type} ${disclosures_url}`)).size,
        1,
        name,
      );
      return own.map(({ crd_number }) => crd_number);
    });
    for (const number of numbers) assert.match(number, /^99\d{7}$/);
    assert.equal(new Set(numbers).size, numbers.length);
  });

  test('the figures are in the ranges of the market and of the current quarter', () => {
    for (const offer of offers) {
      for (const { percent } of offer.fee_tiers ?? []) assert.ok(percent >= 0.3 && percent <= 1.5, offer.id);
      const [least, most] = offer.fee_model === 'hourly' ? [150, 500] : [1_000, 7_500];
      if (offer.fee_usd !== undefined) assert.ok(offer.fee_usd >= least && offer.fee_usd <= most, offer.id);
      assert.ok(offer.legal.includes(offer.as_of), offer.id);
    }
  });

  test('only fiduciaries without commissions are called fee-only', () => {
    for (const { id, features, fiduciary, fee_model } of offers) {
      if (features.includes('fee_only')) assert.ok(fiduciary && fee_model !== 'commission', id);
    }
  });

  test('a visitor in every state gets advisors on every topic, and one without assets as well', () => {
    const totalFor = (fields: object) =>
      rankAdvisors(compiled.tables, visitorOf({ ...saver, ...fields }), today, null).total;
    for (const state of usStateCodes.filter((code) => !['PR', 'GU', 'VI', 'AS', 'MP'].includes(code))) {
      for (const advice_topic of topics) {
        assert.ok(totalFor({ state, advice_topic, investable_assets: 250_000 }) >= 5, `${advice_topic} in ${state}`);
        assert.ok(totalFor({ state, advice_topic, investable_assets: 0 }) >= 3, `${advice_topic} in ${state}`);
      }
    }
  });

  test('the statistics have one group for each fee model', () => {
    const { groups, payouts, using } = computeAdvisorStatistics(catalog, findAdvisor);
    assert.deepEqual(
      groups.map(({ name }) => name),
      ['percent_of_assets', 'flat', 'hourly', 'commission'],
    );
    assert.equal(
      groups.reduce((sum, group) => sum + group.offers, 0),
      offers.length,
    );
    assert.equal(payouts.cost_per_lead.offers, offers.length);
    assert.equal(using.fiduciary, offers.filter(({ fiduciary }) => fiduciary).length);
  });
});

describe('the sandbox catalog of financial advisors', () => {
  const catalog = read('sandbox');
  const compiled = compileAdvisors(catalog);
  const idsFor = (fields: object) => {
    const { orders, total } = rankAdvisors(compiled.tables, visitorOf({ ...saver, ...fields }), today, null);
    return Array.from(orders.subarray(0, total), (offer) => compiled.offers[offer]!.id).sort();
  };

  test('has 12 to 16 offers', () => {
    assert.ok(listOffers(catalog).length >= 12 && listOffers(catalog).length <= 16);
  });

  test('has the same advisors for every adult in every state and topic, except for offers with a condition', () => {
    const advisors = 'alpha-percent bravo-budget bravo-flat charlie-hourly charlie-remote delta-commission';
    const everywhere = [...advisors.split(' '), 'delta-disclosures'].map((name) => `sandbox-${name}`);
    for (const state of usStateCodes) {
      for (const advice_topic of topics) {
        const ids = idsFor({ state, advice_topic }).filter((id) => id !== 'sandbox-echo-ca-ny');
        assert.deepEqual(ids, everywhere, `${advice_topic} in ${state}`);
      }
    }
  });

  for (const [id, shown, hidden] of [
    ['sandbox-alpha-minimum', { investable_assets: 1_000_000 }, { investable_assets: 999_999 }],
    ['sandbox-charlie-remote', { meeting_preference: 'remote' }, { meeting_preference: 'in_person' }],
    ['sandbox-delta-disclosures', { meeting_preference: 'in_person' }, { meeting_preference: 'remote' }],
    ['sandbox-echo-age-50', { birthdate: '1976-08-01' }, { birthdate: '1976-08-02' }],
    ['sandbox-echo-soon', { timeline: 'now' }, { timeline: 'later' }],
    ['sandbox-echo-no-advisor', { has_advisor: false }, { has_advisor: true }],
    ['sandbox-echo-ca-ny', { state: 'NY' }, { state: 'NJ' }],
  ] as const) {
    test(`the sandbox offer ${id} is available only to visitors who meet its condition`, () => {
      assert.deepEqual([idsFor(shown).includes(id), idsFor(hidden).includes(id)], [true, false]);
    });
  }
});
