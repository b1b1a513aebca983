import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OfferView } from '../../../src/catalogs/offer-view.ts';
import { createOfferUrls } from '../../../src/operations/click-url.ts';
import { calculateAdvisorFees } from '../../../src/verticals/find-advisor/advisor-view.ts';
import type { AdvisorCatalog } from '../../../src/verticals/find-advisor/offer-schema.ts';
import { rankAdvisors } from '../../../src/verticals/find-advisor/rank-advisors.ts';
import { renderOffers } from '../../matching/priced-rankings.ts';
import { advisorCatalogOf, compileAdvisors, plainAdvisor, saver, today, visitorOf } from './advisor-fixtures.ts';

const urls = createOfferUrls({ click: 'https://go.example', cdn: 'https://cdn.example/logos' });
type View = OfferView & { readonly advisor: Record<string, unknown>; readonly compensation_disclosure: string };

function renderAdvisors(file: AdvisorCatalog, borrower: readonly number[], indexes?: readonly number[]) {
  const catalog = compileAdvisors(file);
  const { orders } = rankAdvisors(catalog.tables, borrower, today, null);
  const shown = indexes ?? orders.subarray(0, orders.length / 4);
  return renderOffers<View>(catalog, calculateAdvisorFees(catalog, shown, borrower), urls);
}

test('the advisor of an offer has every documented member, with null for the members of other fee models', () => {
  const { views } = renderAdvisors(advisorCatalogOf([plainAdvisor()]), visitorOf(saver));
  assert.equal(views[0]!.compensation_disclosure, plainAdvisor().compensation_disclosure);
  assert.deepEqual(views[0]!.advisor, {
    name: 'Ada Plain',
    firm_type: 'ria',
    fiduciary: true,
    credentials: ['cfp'],
    fee_model: 'percent_of_assets',
    fee_tiers: [{ from: 0, percent: 1 }],
    fee_usd: null,
    hours_per_year: null,
    estimated_annual_fee: 2_000,
    minimum_assets: 0,
    services: ['retirement', 'tax'],
    meeting: 'both',
    years: 10,
    crd_number: '999999999',
    disclosures_url: 'https://plain.example/form-crs',
    has_disclosures: false,
  });
});

test('throws for an advisor who was not ranked for the visitor', () => {
  const file = advisorCatalogOf([plainAdvisor({ minimum_assets: 500_000 })]);
  assert.throws(() => renderAdvisors(file, visitorOf(saver), [0]), /offer plain was not ranked/);
  assert.throws(
    () => renderAdvisors(file, visitorOf({ ...saver, investable_assets: null }), [0]),
    /offer plain was not ranked/,
  );
});
