import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CompiledCatalog } from '../../../src/catalogs/compile-catalog.ts';
import type { OfferRendererOptions } from '../../../src/catalogs/offer-view.ts';
import type { MatchTables } from '../../../src/matching/match-tables.ts';
import { TemplateOfferRenderer } from '../../../src/verticals/common/template-offer-renderer.ts';

test('renders texts and values of an offer unchanged, whatever they contain', () => {
  const texts = ['\u00010\u0001', '\\u00010\\u0001', '"0"', '{0}', '$0'];
  const offer = {
    id: 'a',
    lenderName: 'Paws',
    logo: 'paws.svg',
    landingUrlParts: [''],
    source: null,
    asOfDay: null,
    dailyCap: null,
    budget: null,
    flatPayoutMicros: null,
    details: { svc_star_rating: 4, features: texts, prequalification: false, legal: texts.join(' ') },
  };
  const options: OfferRendererOptions = [
    { disclosure: '', offers: [offer], tables: {} as MatchTables },
    'https://cdn.example',
    new Map(),
  ];
  const renderer = new TemplateOfferRenderer(options, (_offer, _slot, [premium, absent, steps]) => ({
    ...{ apr_range: null, payment_term_months: null, monthly_payment_estimate: premium as number },
    ...{ loan_amount_range: null, term_months: [], policy: { note: texts[0], premium, absent, steps } },
  }));
  const list = {
    catalog: { tables: {} } as CompiledCatalog,
    offers: [
      {
        index: 0,
        slot: 0,
        values: [
          4.2,
          null,
          [
            { from: 1, rate: 0.5 },
            { from: 2, rate: 1 },
          ],
        ],
      },
    ],
    subId: 'sub_1',
    clickToken: 'token',
  };
  const urls = { clickPrefix: 'https://go.example/c?sub=', clickPrefixJson: 'https://go.example/c?sub=', logos: '' };
  const rendered: unknown = JSON.parse(renderer.renderOffersJson(list, urls));
  assert.deepEqual(rendered, renderer.createOfferViews(list, urls));
  // The second text comes from the template.
  assert.deepEqual(JSON.parse(renderer.renderOffersJson(list, urls)), rendered);
});
