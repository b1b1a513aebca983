import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bounds } from '../../src/bounds.ts';
import { limits } from '../../src/web/widget/limits.ts';
import { readSettings } from '../../src/web/widget/settings.ts';

const src = 'https://widgets.example/w/widget.js?v=0123456789abcdef';
const dataset = { sub: 'sub_1', token: 'abc', mount: '#offers' };

test('a script element without optional attributes has the defaults of the API', () => {
  assert.deepEqual(readSettings({ src, dataset }), {
    base: 'https://widgets.example/w',
    ...dataset,
    sort: 'recommended',
    maxOffers: null,
    isFramePage: false,
    theme: 'auto',
  });
});

test('a script element configures sort order, number of offers, embedding and theme', () => {
  const more = { ...dataset, sort: 'svc_revenue', maxOffers: '20', embed: 'iframe', theme: 'dark' };
  assert.deepEqual(readSettings({ src: 'http://127.0.0.1:8080/w/widget.js', dataset: more }), {
    base: 'http://127.0.0.1:8080/w',
    ...dataset,
    sort: 'svc_revenue',
    maxOffers: 20,
    isFramePage: true,
    theme: 'dark',
  });
});

test('names the attribute to fix if an attribute is missing or invalid', () => {
  const complaints: [attributes: object, named: RegExp][] = [
    [{ sub: undefined }, /data-sub/],
    [{ token: '' }, /data-token/],
    [{ mount: undefined }, /data-mount/],
    [{ sort: 'cheapest' }, /data-sort/],
    [{ sort: 'toString' }, /data-sort/],
    [{ maxOffers: '0' }, /data-max-offers/],
    [{ maxOffers: '21' }, /data-max-offers/],
    [{ maxOffers: '5.0' }, /data-max-offers/],
    [{ theme: 'pink' }, /data-theme/],
  ];
  for (const [attributes, named] of complaints) {
    const result = readSettings({ src, dataset: { ...dataset, ...attributes } });
    assert.ok(typeof result === 'string' && named.test(result), JSON.stringify(attributes));
  }
  for (const elsewhere of [
    '',
    'https://widgets.example/other.js',
    'data:text/javascript,/widget.js',
    'file:///widget.js',
  ]) {
    assert.match(String(readSettings({ src: elsewhere, dataset })), /widget\.js/, elsewhere);
  }
});

test('the limits of the widget are within the limits of the server', () => {
  assert.equal(limits.offersMax, bounds.offersShownMax);
  assert.equal(limits.offersDefault, bounds.offersShownDefault);
  assert.equal(limits.placeholderCardsMax, bounds.widgetPlaceholderCardsMax);
  assert.ok(limits.eventsPerBatchMax <= bounds.widgetEventsPerBatchMax);
});
