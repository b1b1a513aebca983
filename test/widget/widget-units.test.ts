import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib';
import { formatFeature } from '../../examples/landing-page/pages/formatting.ts';
import { bounds } from '../../src/bounds.ts';
import { errorTable } from '../../src/domain/errors.ts';
import { builtInVerticals } from '../../src/verticals/built-in-verticals.ts';
import { accentProperties, parseComputedColor, parseHexColor } from '../../src/web/widget/colors.ts';
import { errorMessageFor } from '../../src/web/widget/error-messages.ts';
import {
  formatDate,
  formatDollars,
  formatDollarsAndCents,
  formatFee,
  formatMonths,
  formatOfferFeature,
  formatPercent,
  formatPercentRange,
  formatShortPercent,
} from '../../src/web/widget/format.ts';
import * as widgetLimits from '../../src/web/widget/limits.ts';
import { readSettings } from '../../src/web/widget/settings.ts';
import { parseWidgetAppearance } from '../../src/widgets/widget-embedding.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const src = 'https://widgets.example/w/widget.js?v=0123456789abcdef';
const hostileTexts = [
  '"><script>alert(1)</script>',
  '#fff" onload="alert(1)',
  'url(https://evil.example/x)',
  '#fff\n',
  ' #fff',
  '#fff}*{display:none}',
  '＃ｆｆｆ',
];
const dataset = { sub: 'sub_1', token: 'abc', mount: '#offers' };

test('without optional attributes, the script element uses the defaults of the API', () => {
  assert.deepEqual(readSettings({ src, dataset }), {
    base: 'https://widgets.example/w',
    ...dataset,
    vertical: undefined,
    sort: 'recommended',
    maxOffers: null,
    isFramePage: false,
    theme: 'auto',
    accent: null,
  });
});

test('attributes of the script element configure vertical, sort order, number of offers, embedding, theme and accent', () => {
  const more = {
    ...dataset,
    vertical: 'banking',
    sort: 'svc_revenue',
    maxOffers: '20',
    embed: 'iframe',
    theme: 'dark',
    accent: '#0a7d5f',
  };
  assert.deepEqual(readSettings({ src: 'http://127.0.0.1:8080/w/widget.js', dataset: more }), {
    base: 'http://127.0.0.1:8080/w',
    ...dataset,
    vertical: 'banking',
    sort: 'svc_revenue',
    maxOffers: 20,
    isFramePage: true,
    theme: 'dark',
    accent: [10, 125, 95],
  });
});

test('the error for a missing or invalid attribute names the attribute', () => {
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

test('an accent has three or six hexadecimal digits, in the script and in the query of the iframe page', () => {
  for (const [text, color] of [
    ['#0a7d5f', [10, 125, 95]],
    ['0A7D5F', [10, 125, 95]],
    ['#fc0', [255, 204, 0]],
    ['000', [0, 0, 0]],
  ] as const) {
    assert.deepEqual(parseHexColor(text), color, text);
    assert.equal(parseWidgetAppearance({ accent: text }).accent, text);
  }
  for (const text of [
    '',
    '#',
    '#12',
    '#1234',
    '#12345',
    '#0a7d5f80',
    '#ggg',
    'red',
    'rgb(1,2,3)',
    '#fff;--ink:red',
    ...hostileTexts,
  ]) {
    assert.equal(parseHexColor(text), null, text);
    assert.equal(parseWidgetAppearance({ accent: text }).accent, '', text);
    assert.equal(parseWidgetAppearance({ theme: text }).theme, 'light', text);
  }
  assert.deepEqual(parseWidgetAppearance({}), { theme: 'light', accent: null });
  for (const theme of ['light', 'dark', 'auto']) assert.equal(parseWidgetAppearance({ theme }).theme, theme);
});

test('texts have a contrast of at least 4.5 with every accent, also while the pointer is over a button', () => {
  const surfaces = { light: ['#ffffff', '#f0f3f7'], dark: ['#12171e', '#1a212b', '#242d39'] } as const;
  const steps = [0, 51, 102, 119, 153, 204, 255];
  for (const red of steps) {
    for (const green of steps) {
      for (const blue of steps) {
        for (const theme of ['light', 'dark'] as const) {
          const colors = accentProperties([red, green, blue], theme);
          const pairs = [
            [colors['--on-accent']!, colors['--accent']!],
            [colors['--on-accent']!, colors['--accent-strong']!],
            ...surfaces[theme].map((surface) => [colors['--link']!, parseHexColor(surface)!] as const),
          ] as const;
          assert.deepEqual(colors['--accent'], [red, green, blue]);
          for (const [text, surface] of pairs) {
            const [darker, lighter] = [text, surface]
              .map((color) => parseComputedColor(`rgb(${color.join(', ')})`)[0])
              .sort((a, b) => a - b);
            const contrast = (lighter! + 0.05) / (darker! + 0.05);
            assert.ok(contrast >= 4.5, `${contrast}: ${text} on ${surface}, ${theme}`);
          }
        }
      }
    }
  }
  assert.deepEqual(accentProperties([255, 204, 0], 'light')['--on-accent'], [0, 0, 0]);
  assert.deepEqual(accentProperties([10, 125, 95], 'light')['--on-accent'], [255, 255, 255]);
});

test('reads luminance and opacity of computed colors of all color spaces', () => {
  for (const [text, luminance, opacity] of [
    ['rgb(255, 255, 255)', 1, 1],
    ['rgba(0, 0, 0, 0)', 0, 0],
    ['rgba(119, 119, 119, 0.5)', 0.184, 0.5],
    ['color(srgb 0.466667 0.466667 0.466667)', 0.184, 1],
    ['color(display-p3 0 0 1e-05 / 0.25)', 0, 0.25],
    ['oklch(0.568 0.1 120)', 0.183, 1],
    ['oklab(0.568 none none / 0.5)', 0.183, 0.5],
    ['lab(50 20 -30)', 0.184, 1],
    ['lch(50 20 none / 0.5)', 0.184, 0.5],
  ] as const) {
    const [found, foundOpacity] = parseComputedColor(text);
    assert.ok(Math.abs(found - luminance) < 0.002, `${text}: ${found}`);
    assert.equal(foundOpacity, opacity, text);
  }
});

test('the limits of the widget do not exceed the limits of the server', () => {
  assert.equal(widgetLimits.offersMax, bounds.offersShownMax);
  assert.equal(widgetLimits.offersDefault, bounds.offersShownDefault);
  assert.equal(widgetLimits.placeholderCardsMax, bounds.widgetPlaceholderCardsMax);
  assert.ok(widgetLimits.eventsPerBatchMax <= bounds.widgetEventsPerBatchMax);
});

test('formats amounts of money and interest rates', () => {
  assert.equal(formatDollars(10_000), '$10,000');
  assert.equal(formatDollarsAndCents(341.48), '$341.48');
  assert.equal(formatDollarsAndCents(1_341.5), '$1,341.50');
  assert.equal(formatPercent(17.5), '17.50%');
  assert.equal(formatDollarsAndCents(-45.2), '−$45.20');
  assert.equal(formatPercent(9), '9.00%');
  assert.equal(formatPercent(6.375), '6.375%');
  assert.equal(formatPercentRange({ min: 9, max: 17.5 }), '9.00% to 17.50%');
  assert.equal(formatPercentRange({ min: 9, max: 9 }), '9.00%');
  assert.deepEqual(
    [formatShortPercent(3), formatShortPercent(1.5), formatShortPercent(0.125)],
    ['3%', '1.5%', '0.125%'],
  );
  assert.deepEqual([formatFee(95), formatFee(0.5), formatFee(1_500)], ['$95', '$0.50', '$1,500']);
});

test('formats loan terms as a list', () => {
  assert.equal(formatMonths(1), '1 month');
  assert.equal(formatMonths(36), '36 months');
  assert.equal(formatMonths(24, 36), '24 or 36 months');
  assert.equal(formatMonths(24, 36, 48), '24, 36 or 48 months');
});

test('formats dates independently of the time zone, and rejects other texts', () => {
  assert.equal(formatDate('2026-03-01'), 'March 1, 2026');
  for (const invalid of ['', 'soon', '2026-13-01']) assert.equal(formatDate(invalid), null, invalid);
});

test('formats feature tags of offers as words', () => {
  assert.equal(formatOfferFeature('no_origination_fee'), 'No origination fee');
  assert.equal(formatOfferFeature('low_apr'), 'Low APR');
  assert.equal(formatOfferFeature('__same_day__funding_'), 'Same day funding');
  assert.equal(formatOfferFeature('Already written'), 'Already written');
});

test('the widget and the example write the abbreviations in the features of all example catalogs in upper case', () => {
  const abbreviations = /\b(ach|apr|apy|arm|atm|cd|fdic|fha|heloc|ira|ncua|nmls|pmi|ssn|us|usda|va)\b/i;
  const catalogs = builtInVerticals.verticals.map(({ segment }) =>
    readFileSync(new URL(`../../src/verticals/${segment}/example-catalog.json`, import.meta.url), 'utf8'),
  );
  const features = catalogs.flatMap((text) =>
    (JSON.parse(text).lenders as { offers: { features: string[] }[] }[]).flatMap(({ offers }) =>
      offers.flatMap(({ features: tags }) => tags),
    ),
  );
  assert.ok(features.includes('va_specialist') && features.includes('atm_fee_refunds'));
  for (const tag of new Set([...features, 'usda_loans', 'fha_loans', 'apy_guarantee', 'no_apr'])) {
    const text = formatOfferFeature(tag);
    assert.equal(formatFeature(tag), text);
    assert.match(text, /^[A-Z]/);
    for (const word of text.split(' ')) {
      if (abbreviations.test(word)) assert.equal(word, word.toUpperCase(), text);
    }
  }
});

test('parses a Retry-After header up to a maximum', () => {
  assert.equal(widgetLimits.parseRetryAfterMs('7'), 7_000);
  assert.equal(widgetLimits.parseRetryAfterMs('999999'), 120_000);
  for (const other of [null, '', '-1', '1.5', 'Wed, 21 Oct 2026 07:28:00 GMT'])
    assert.equal(widgetLimits.parseRetryAfterMs(other), null);
});

test('the widget has an error message for every error code', () => {
  for (const code of [...Object.keys(errorTable), 'UNREACHABLE', 'A_CODE_TO_COME']) {
    const { title, advice, canRetry, partnerHint } = errorMessageFor(code, 'https://shop.example');
    assert.ok(title.length > 0 && advice.length > 0, code);
    assert.ok(canRetry || partnerHint !== null, `${code}: neither a retry nor a hint`);
  }
  assert.match(
    errorMessageFor('ORIGIN_NOT_ALLOWED', 'https://shop.example').partnerHint ?? '',
    /https:\/\/shop\.example/,
  );
});

const builder = fileURLToPath(new URL('../../bin/build-web.ts', import.meta.url));

test('the widget script is one small file without URLs of other hosts', (t) => {
  const folder = temporaryFolder(t);
  execFileSync(process.execPath, [builder, folder]);
  const script = readFileSync(join(folder, 'widget/dist/widget.js'));
  // The size includes the styles. The limits are a little above the measured sizes, 17.2 kB with gzip and 15.0 kB with Brotli, of which texts
  // and figures of the five verticals are more than half (the last one has 0.9 kB), and themes and accents 0.9 kB. Almost all browsers
  // request Brotli.
  assert.ok(gzipSync(script).length <= 17_408, `${gzipSync(script).length} bytes with gzip`);
  assert.ok(brotliCompressSync(script).length < 15_360, `${brotliCompressSync(script).length} bytes with brotli`);
  // The compressed files contain the same script.
  assert.deepEqual(gunzipSync(readFileSync(join(folder, 'widget/dist/widget.js.gz'))), script);
  assert.deepEqual(brotliDecompressSync(readFileSync(join(folder, 'widget/dist/widget.js.br'))), script);
  const text = script.toString();
  for (const [, name] of text.matchAll(/var\((--[\w-]+)\)/g)) {
    // The style sheets or the script give a property its value.
    assert.ok(text.includes(`${name}:`) || text.includes(`"${name}"`), `${name} has no value`);
  }
  for (const banned of [
    /\beval\b/,
    /\bnew Function\b|[^\w.]Function\(/,
    /innerHTML|outerHTML|insertAdjacentHTML|document\.write/,
    /\bcookie\b|localStorage|sessionStorage|indexedDB/,
    /https?:\/\/[\w.]/,
    /sourceMappingURL/,
  ]) {
    assert.doesNotMatch(text, banned);
  }
  // A second build has the same content.
  execFileSync(process.execPath, [builder, join(folder, 'again')]);
  assert.deepEqual(readFileSync(join(folder, 'again/widget/dist/widget.js')), script);
});
