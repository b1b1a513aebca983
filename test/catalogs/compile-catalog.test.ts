import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileCatalog, shareTypedArrays } from '../../src/catalogs/compile-catalog.ts';
import { compileLoanTables } from '../../src/verticals/personal-loans/loan-tables.ts';
import type { LoanCatalog } from '../../src/verticals/personal-loans/offer-schema.ts';
import { personalLoans } from '../../src/verticals/personal-loans/personal-loans.ts';
import { catalogOf, plainBand, plainOffer } from '../matching/loan-fixtures.ts';
import { equipmentLeaseCatalog, equipmentLeases } from '../support/equipment-leases.ts';
import { generateCatalog } from '../support/random-catalog.ts';

const band = (name: string) => ['300-579', '580-619', '620-659', '660-699', '700-749', '750-799', '800+'].indexOf(name);

function compile(catalog: LoanCatalog, mode: 'live' | 'test' = 'live') {
  return compileCatalog(catalog, personalLoans, { mode, cdnUrl: () => 'https://cdn.example' });
}

test('numbers offers in the order of their ids', () => {
  const catalog = compile(catalogOf(['b', 'a-1', 'c', 'a_1'].map((id) => plainOffer({ id }))));
  assert.deepEqual(
    catalog.offers.map(({ id }) => id),
    ['a-1', 'a_1', 'b', 'c'],
  );
  assert.equal(catalog.offerIndex('b'), 2);
  assert.equal(catalog.offerIndex('missing'), -1);
  assert.equal(catalog.offerIndex('constructor'), -1);
});

test('encodes the click_id in every placeholder of the landing URL', () => {
  const landing_url = 'https://plain.example/{click_id}/start?c={click_id}';
  const catalog = compile(catalogOf([plainOffer({ landing_url })]));
  assert.equal(catalog.landingUrl(0, 'Ab_-9'), 'https://plain.example/Ab_-9/start?c=Ab_-9');
  assert.equal(
    catalog.landingUrl(0, '$& a/b\r\n'),
    'https://plain.example/%24%26%20a%2Fb%0D%0A/start?c=%24%26%20a%2Fb%0D%0A',
  );
});

test('the value of a click is the payout times the confirm rate of the credit band', () => {
  const bands = { '660-699': plainBand({ confirm_rate: 0.02 }), '700-749': plainBand({ confirm_rate: 0.05 }) };
  const catalog = compile(catalogOf([plainOffer({ payout_usd: 150, bands })]));
  assert.equal(catalog.clickValueMicros(0, band('700-749')), 7_500_000);
  assert.equal(catalog.clickValueMicros(0, band('660-699')), 3_000_000);
  assert.equal(catalog.clickValueMicros(0, band('800+')), 0);
});

test('the value of a click is 0 in a test catalog', () => {
  assert.equal(compile(catalogOf([plainOffer()]), 'test').clickValueMicros(0, band('700-749')), 0);
});

test('the value of a click is the payout for a cost-per-click offer', () => {
  const catalog = compileCatalog(JSON.parse(equipmentLeaseCatalog('live')), equipmentLeases, {
    mode: 'live',
    cdnUrl: () => '',
  });
  const offer = catalog.offerIndex('live-lease-1-0');
  assert.equal(catalog.clickValueMicros(offer, 0), 2_250_000);
});

test('applies the payout model of the offer instead of that of the vertical', () => {
  const click = plainOffer({ payout_model: 'cost_per_click', payout_usd: 2.25 });
  assert.equal(compile(catalogOf([click])).clickValueMicros(0, band('700-749')), 2_250_000);
  const leases = JSON.parse(equipmentLeaseCatalog('live')) as LoanCatalog;
  const lease = leases.lenders[0]!.offers[0]!;
  lease.payout_model = 'cost_per_lead';
  lease.payout_usd = 100;
  for (const priced of Object.values(lease.bands)) priced.confirm_rate = 0.03;
  const compiled = compileCatalog(leases, equipmentLeases, { mode: 'live', cdnUrl: () => '' });
  assert.equal(compiled.clickValueMicros(compiled.offerIndex(lease.id), 0), 3_000_000);
});

test('the catalog version does not depend on the layout of the file', () => {
  const catalog = catalogOf([plainOffer()]);
  const shuffled = Object.fromEntries(Object.entries(catalog).reverse()) as unknown as LoanCatalog;
  assert.equal(compile(catalog).version, compile(shuffled).version);
  assert.match(compile(catalog).version, /^[0-9a-f]{12}$/);
});

test('does not change the versions of catalogs that were written before the format was extended', () => {
  assert.equal(compile(catalogOf([plainOffer()])).version, '42621250371d');
});

test('the catalog version changes with every change of content or mode', () => {
  const versions = [
    compile(catalogOf([plainOffer()])),
    compile(catalogOf([plainOffer()]), 'test'),
    compile(catalogOf([plainOffer({ payout_usd: 101 })])),
    compile(catalogOf([plainOffer({ features: ['a'] })])),
    compile(catalogOf([plainOffer()], { disclosure: 'Another.' })),
  ].map(({ version }) => version);
  assert.equal(new Set(versions).size, versions.length);
});

test('renders the disclosure as JSON', () => {
  const { offerFragments } = compile(catalogOf([plainOffer()], { disclosure: 'Paid "by" lenders.' }));
  assert.equal(JSON.parse(offerFragments.disclosureJson), 'Paid "by" lenders.');
});

test('renders logo URLs with the current hash', () => {
  const catalog = compile(catalogOf([plainOffer()]));
  const url = () => /"logo_url":"([^"]*)"/.exec(catalog.offerFragments.headJson(0, 0))?.[1];
  const { lenderName, logo } = catalog.offers[0]!;
  assert.equal(url(), `https://cdn.example/${logo}`);
  for (const hash of ['0123456789abcdef', 'fedcba9876543210']) {
    catalog.setLogoHashes(new Map([[lenderName, hash]]));
    assert.equal(url(), `https://cdn.example/${logo}?v=${hash}`);
    assert.equal(catalog.offerFragments, catalog.offerFragments);
  }
});

test('copies the tables of a catalog into shared memory', () => {
  const tables = compileLoanTables(generateCatalog(1, 50), personalLoans);
  const shared = shareTypedArrays(tables);
  assert.deepEqual(shared, tables);
  const sent = structuredClone(shared);
  shared.aprMin[0] = 1_234;
  assert.equal(sent.aprMin[0], 1_234);
  const [filter] = shared.choiceFilters;
  filter!.allowed.get(0)![0] = 77;
  assert.equal(sent.choiceFilters[0]!.allowed.get(0)![0], 77);
});

test('rejects catalog tables with values that a structured clone would change', () => {
  class Index {}
  assert.throws(() => shareTypedArrays({ index: new Index() }), /Index cannot go to another thread/);
});
