import assert from 'node:assert/strict';
import { test } from 'node:test';
import { copyToSharedMemory } from '../../src/catalogs/compile-catalog.ts';
import { createOfferUrls } from '../../src/operations/click-url.ts';
import { compileLoanTables } from '../../src/verticals/personal-loans/loan-tables.ts';
import type { LoanCatalog, LoanOffer } from '../../src/verticals/personal-loans/offer-schema.ts';
import { calculateLoanPrices } from '../../src/verticals/personal-loans/offer-view.ts';
import { personalLoans } from '../../src/verticals/personal-loans/personal-loans.ts';
import { borrowerOf, catalogOf, compileLoans, goodBorrower, plainBand, plainOffer } from '../matching/loan-fixtures.ts';
import { equipmentLeaseCatalog, equipmentLeases } from '../support/equipment-leases.ts';
import { generateCatalog } from '../support/random-catalog.ts';

const band = (name: string) => ['300-579', '580-619', '620-659', '660-699', '700-749', '750-799', '800+'].indexOf(name);

test('numbers the offers of a catalog in the order of their ids', () => {
  const catalog = compileLoans(catalogOf(['b', 'a-1', 'c', 'a_1'].map((id) => plainOffer({ id }))));
  assert.deepEqual(
    catalog.offers.map(({ id }) => id),
    ['a-1', 'a_1', 'b', 'c'],
  );
  assert.equal(catalog.findOfferIndex('b'), 2);
  assert.equal(catalog.findOfferIndex('missing'), -1);
  assert.equal(catalog.findOfferIndex('constructor'), -1);
});

test('URL-encodes the click_id in every placeholder of the landing URL', () => {
  const landing_url = 'https://plain.example/{click_id}/start?c={click_id}';
  const catalog = compileLoans(catalogOf([plainOffer({ landing_url })]));
  assert.equal(catalog.landingUrl(0, 'Ab_-9'), 'https://plain.example/Ab_-9/start?c=Ab_-9');
  assert.equal(
    catalog.landingUrl(0, '$& a/b\r\n'),
    'https://plain.example/%24%26%20a%2Fb%0D%0A/start?c=%24%26%20a%2Fb%0D%0A',
  );
});

test('the value of a click is the payout times the confirmation rate of the credit band', () => {
  const bands = { '660-699': plainBand({ confirm_rate: 0.02 }), '700-749': plainBand({ confirm_rate: 0.05 }) };
  const catalog = compileLoans(catalogOf([plainOffer({ payout_usd: 150, bands })]));
  assert.equal(catalog.clickValueMicros(0, band('700-749')), 7_500_000);
  assert.equal(catalog.clickValueMicros(0, band('660-699')), 3_000_000);
  assert.equal(catalog.clickValueMicros(0, band('800+')), 0);
});

test('applies the payout model of the offer, or of the vertical if the offer has none', () => {
  const click = plainOffer({ payout_model: 'cost_per_click', payout_usd: 2.25 });
  assert.equal(compileLoans(catalogOf([click])).clickValueMicros(0, band('700-749')), 2_250_000);
  const leases = JSON.parse(equipmentLeaseCatalog('live')) as LoanCatalog;
  const [lease, other] = leases.lenders[0]!.offers as [LoanOffer, LoanOffer];
  lease.payout_model = 'cost_per_lead';
  lease.payout_usd = 100;
  for (const priced of Object.values(lease.bands)) priced.confirm_rate = 0.03;
  const compiled = compileLoans(leases, 'live', equipmentLeases);
  assert.equal(compiled.clickValueMicros(compiled.findOfferIndex(lease.id), 0), 3_000_000);
  assert.equal(compiled.clickValueMicros(compiled.findOfferIndex(other.id), 0), other.payout_usd * 1_000_000);
});

test('the catalog version does not depend on the order of the properties in the file', () => {
  const catalog = catalogOf([plainOffer()]);
  const shuffled = Object.fromEntries(Object.entries(catalog).reverse()) as unknown as LoanCatalog;
  assert.equal(compileLoans(catalog).version, compileLoans(shuffled).version);
  // Catalogs that were written before the format was extended keep their versions.
  assert.equal(compileLoans(catalog).version, '42621250371d');
});

test('the catalog version changes with every change of content or mode', () => {
  const versions = [
    compileLoans(catalogOf([plainOffer()])),
    compileLoans(catalogOf([plainOffer()]), 'test'),
    compileLoans(catalogOf([plainOffer({ payout_usd: 101 })])),
    compileLoans(catalogOf([plainOffer({ features: ['a'] })])),
    compileLoans(catalogOf([plainOffer({ daily_cap: 1 })])),
    compileLoans(catalogOf([plainOffer({ budget: { per_day_usd: 1, pacing: 'asap' } })])),
    compileLoans(catalogOf([plainOffer()], { disclosure: 'Another.' })),
  ].map(({ version }) => version);
  assert.equal(new Set(versions).size, versions.length);
});

test('compiles budgets to micro-dollars, and the age of figures to days', () => {
  const limitsOf = (changes: object, file: object = {}) => {
    const { offers, maxAgeDays } = compileLoans(catalogOf([plainOffer(changes)], file));
    const { dailyCap, budget, asOfDay } = offers[0]!;
    return { dailyCap, budget, asOfDay, maxAgeDays };
  };
  assert.deepEqual(limitsOf({}), { dailyCap: null, budget: null, asOfDay: null, maxAgeDays: 45 });
  const budget = { per_day_usd: 0.29, per_month_usd: 1e9, pacing: 'even' };
  assert.deepEqual(limitsOf({ daily_cap: 3, budget, as_of: '1970-01-31' }, { max_age_days: null }), {
    dailyCap: 3,
    budget: { perDayMicros: 290_000, perMonthMicros: 1e15, pacing: 'even' },
    asOfDay: 30,
    maxAgeDays: null,
  });
  assert.equal(limitsOf({}, { max_age_days: 7 }).maxAgeDays, 7);
});

test('computeClickValueRange returns the smallest and the largest revenue of a click, and ignores bands without revenue', () => {
  const bands = { '700-749': 0.02, '750-799': 0, '800+': 0.05 };
  const priced = Object.fromEntries(
    Object.entries(bands).map(([band, confirm_rate]) => [band, plainBand({ confirm_rate })]),
  );
  const catalog = catalogOf([plainOffer({ bands: priced })]);
  assert.deepEqual(compileLoans(catalog).computeClickValueRange(0), { minMicros: 2_000_000, maxMicros: 5_000_000 });
});

test('renders logo URLs with the current hash', () => {
  const catalog = compileLoans(catalogOf([plainOffer()]));
  const offers = calculateLoanPrices(catalog, [0], borrowerOf(goodBorrower));
  const urls = createOfferUrls({ click: 'https://go.example', cdn: 'https://cdn.example' });
  const url = () =>
    catalog.offerRenderer(urls.logos).createOfferViews({ catalog, offers, subId: 'sub_1', clickToken: 'v' }, urls)[0]!
      .logo_url;
  const { lenderName, logo } = catalog.offers[0]!;
  assert.equal(url(), `https://cdn.example/${logo}`);
  for (const hash of ['0123456789abcdef', 'fedcba9876543210']) {
    catalog.setLogoHashes(new Map([[lenderName, hash]]));
    assert.equal(url(), `https://cdn.example/${logo}?v=${hash}`);
    assert.equal(catalog.offerRenderer('https://cdn.example'), catalog.offerRenderer('https://cdn.example'));
  }
});

test('copies the tables of a catalog into shared memory', () => {
  const tables = compileLoanTables(generateCatalog(1, 50), personalLoans);
  const shared = copyToSharedMemory(tables);
  assert.deepEqual(shared, tables);
  const sent = structuredClone(shared);
  shared.aprMin[0] = 1_234;
  assert.equal(sent.aprMin[0], 1_234);
  const [filter] = shared.choiceFilters;
  filter!.allowed.get(0)![0] = 77;
  assert.equal(sent.choiceFilters[0]!.allowed.get(0)![0], 77);
});

test('rejects catalog tables with class instances, which cannot be sent to another thread', () => {
  class Index {}
  assert.throws(() => copyToSharedMemory({ index: new Index() }), /Index cannot be sent to another thread/);
});
