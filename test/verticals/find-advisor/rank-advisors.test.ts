import assert from 'node:assert/strict';
import { test } from 'node:test';
import { generateFindAdvisorCatalog } from '../../../bench/catalogs/generate-find-advisor-catalog.ts';
import { calculateAdvisorFees } from '../../../src/verticals/find-advisor/advisor-view.ts';
import type { AdvisorCatalog, AdvisorOffer } from '../../../src/verticals/find-advisor/offer-schema.ts';
import {
  advisorPricer,
  computeAnnualFeeCents,
  rankAdvisors,
} from '../../../src/verticals/find-advisor/rank-advisors.ts';
import { scoresOf } from '../../matching/loan-fixtures.ts';
import { compareWithReference, explainReasons, idsOf } from '../../matching/priced-rankings.ts';
import {
  advisorCatalogOf,
  compileAdvisors,
  drawVisitor,
  plainAdvisor,
  saver,
  today,
  visitorOf,
} from './advisor-fixtures.ts';
import { advisorOrders, referenceAdvisors, referenceFeeCents } from './reference-advisors.ts';

/** Generates a catalog. In every second catalog, all advisors have few different figures, so that many are equal. */
function drawCatalog(seed: number, count: number): AdvisorCatalog {
  const catalog = generateFindAdvisorCatalog({ seed, offers: count });
  if (seed % 2 === 0) return catalog;
  for (const offer of catalog.lenders.flatMap(({ offers }) => offers)) {
    const services = ['retirement', 'investing', 'tax', 'estate', 'insurance', 'debt', 'college'];
    const stars = Math.round(offer.stars);
    Object.assign(offer, { services, credentials: [], stars, payout_usd: Math.ceil(offer.payout_usd / 100) });
    if (offer.fee_usd !== undefined) offer.fee_usd = 500;
  }
  return catalog;
}

test('ranks random catalogs in the same orders as a reference that prices and sorts every offer', () =>
  compareWithReference({
    seed: 29,
    numRuns: 60,
    offersMax: 300,
    today,
    rank: rankAdvisors,
    compare: advisorOrders,
    drawCatalog,
    compile: compileAdvisors,
    drawBorrower: drawVisitor,
    findMatches: referenceAdvisors,
    checkFigures(compiled, offers, borrower, matches) {
      for (const { index, values } of calculateAdvisorFees(compiled, offers, borrower)) {
        assert.deepEqual(values, [matches.get(compiled.offers[index]!.id)!.feeCents / 100]);
      }
    },
  }));

test('computes the fee exactly to the cent, for each fee model and at the limits of tiers', () => {
  const feeOf = (changes: Partial<AdvisorOffer>, assets: number) => {
    const offer = plainAdvisor(changes);
    const fee = computeAnnualFeeCents(compileAdvisors(advisorCatalogOf([offer])).tables, 0, assets);
    assert.equal(fee, referenceFeeCents(offer, assets));
    return fee / 100;
  };
  // The example of docs/verticals/find-advisor.md#fees.
  const tiers = [
    { from: 0, percent: 1 },
    { from: 1_000_000, percent: 0.75 },
    { from: 3_000_000, percent: 0.5 },
  ];
  const marginal = (assets: number) => feeOf({ fee_tiers: tiers }, assets);
  assert.deepEqual(
    [0, 1, 400_000, 1_000_000, 1_000_001, 5_000_000].map(marginal),
    [0, 0.01, 4_000, 10_000, 10_000.01, 35_000],
  );
  assert.equal(feeOf({ fee_tiers: [{ from: 0, percent: 0.005 }] }, 100), 0.01, 'half a cent is rounded up');
  assert.equal(feeOf({ fee_tiers: [{ from: 0, percent: 0.005 }] }, 99), 0);
  assert.equal(feeOf({ fee_tiers: [{ from: 0, percent: 4.999 }] }, 100_000_000), 4_999_000);
  for (const assets of [0, 100_000_000]) {
    assert.equal(feeOf({ fee_model: 'flat', fee_usd: 2_400.1 }, assets), 2_400.1);
    assert.equal(feeOf({ fee_model: 'hourly', fee_usd: 333.33, hours_per_year: 7 }, assets), 2_333.31);
    assert.equal(feeOf({ fee_model: 'commission', estimated_annual_fee: 950 }, assets), 950);
  }
});

// The example of docs/verticals/find-advisor.md#example.
test('each order ranks the offers of the documented example by its own measure', () => {
  const compiled = compileAdvisors(
    advisorCatalogOf([
      plainAdvisor({ id: 'a', credentials: ['cfp', 'cfa'], minimum_assets: 100_000, stars: 5, payout_usd: 90 }),
      plainAdvisor({
        id: 'b',
        fee_model: 'hourly',
        fee_usd: 300,
        hours_per_year: 4,
        payout_usd: 60,
        stars: 4,
        services: ['tax', 'retirement'],
      }),
      plainAdvisor({
        id: 'c',
        fee_model: 'flat',
        fee_usd: 3_000,
        minimum_assets: 150_000,
        payout_usd: 120,
        stars: 3,
        credentials: [],
      }),
    ]),
  );
  const borrower = visitorOf(saver);
  const { orders } = rankAdvisors(compiled.tables, borrower, today, null);
  assert.equal(idsOf(compiled, orders).join(''), 'abcbaccabcab');
  assert.deepEqual(
    calculateAdvisorFees(compiled, [0, 1, 2], borrower).map(({ values }) => values[0]),
    [2_000, 1_200, 3_000],
  );
  assert.deepEqual([...scoresOf(compiled, borrower, advisorPricer).values()], [80_000_000, 70_714_290, 56_000_000]);
});

test('a click books the payout times the confirm rate, and the order svc_revenue goes by the payout alone', () => {
  const compiled = compileAdvisors(
    advisorCatalogOf([
      plainAdvisor({ id: 'a', payout_usd: 100.1, confirm_rate: 0.5 }),
      plainAdvisor({ id: 'b', payout_usd: 200, confirm_rate: 0.01 }),
    ]),
  );
  assert.deepEqual(
    [0, 1].map((offer) => compiled.clickValueMicros(offer, 0)),
    [50_050_000, 2_000_000],
  );
  const { orders } = rankAdvisors(compiled.tables, visitorOf(saver), today, null);
  assert.equal(idsOf(compiled, orders.subarray(6)).join(''), 'ba');
});

test('shows only licensed advisors for the topic, the assets and the preferred meeting, and reports the reasons', async () => {
  const compiled = compileAdvisors(
    advisorCatalogOf([
      plainAdvisor({ id: 'both', minimum_assets: 200_000 }),
      plainAdvisor({ id: 'remote', meeting: 'remote', services: ['tax'] }),
      plainAdvisor({ id: 'new-york', meeting: 'in_person', criteria: [{ field: 'state', in: ['NY'] }] }),
      plainAdvisor({ id: 'no-territories', criteria: [{ field: 'state', not_in: ['GU', 'PR'] }] }),
    ]),
  );
  const explain = async (fields: object) => {
    const borrower = visitorOf({ ...saver, ...fields });
    const { total, orders } = rankAdvisors(compiled.tables, borrower, today, null);
    const [matched, ...reasons] = await explainReasons(compiled, borrower, today);
    assert.equal(matched, total);
    return [idsOf(compiled, orders.subarray(0, total)).sort().join(' '), ...reasons];
  };
  assert.deepEqual(await explain({}), ['both no-territories', 'not_accepted advice_topic 1', 'not_accepted state 1']);
  assert.deepEqual(await explain({ state: 'NY', investable_assets: 199_999 }), [
    'new-york no-territories',
    'not_accepted state 2',
    'amount_too_low investable_assets 1',
    'not_accepted advice_topic 1',
  ]);
  assert.deepEqual(await explain({ state: 'PR' }), ['', 'not_accepted state 4', 'not_accepted advice_topic 1']);
  assert.deepEqual(await explain({ advice_topic: 'tax', meeting_preference: 'remote' }), [
    'both no-territories remote',
    'not_accepted meeting_preference 1',
    'not_accepted state 1',
  ]);
  assert.deepEqual(await explain({ advice_topic: 'tax', meeting_preference: 'in_person' }), [
    'both no-territories',
    'not_accepted meeting_preference 1',
    'not_accepted state 1',
  ]);
  assert.deepEqual(await explain({ advice_topic: 'tax', meeting_preference: 'either' }), [
    'both no-territories remote',
    'not_accepted state 1',
  ]);
  assert.deepEqual(await explain({ advice_topic: null, investable_assets: null, state: null }), [
    '',
    'not_told advice_topic 4',
    'not_told investable_assets 4',
    'not_told state 4',
  ]);
});
