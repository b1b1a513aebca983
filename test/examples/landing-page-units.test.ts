import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MaturedFigures, SummaryResponse } from '../../examples/landing-page/api/marketplace-api.ts';
import { decideWinner } from '../../examples/landing-page/experiment/results.ts';
import { drawVariant } from '../../examples/landing-page/experiment/variants.ts';
import { resultsPage } from '../../examples/landing-page/pages/results-page.ts';
import { fieldsOf } from '../../examples/landing-page/products/product.ts';
import { products } from '../../examples/landing-page/products/products.ts';
import { VisitorRateLimiter } from '../../examples/landing-page/web/visitor-rate-limiter.ts';
import { builtInVerticals } from '../../src/verticals/built-in-verticals.ts';

function summary(ci95: MaturedFigures['ci95'], withRevenue: number | null = 30): SummaryResponse {
  const matured = { sessions: 1_000, sessions_with_revenue: withRevenue, rev_per_session: 1.23, ci95 };
  const counts = { sessions_total: 2_000, marketplace_views: 1_500, offer_clicks: 400, click_rate: 0.2667 };
  const revenue = { rev_attributed: 0, rev_confirmed: 1_230, rev_per_session: 0.61 };
  return { ...counts, ...revenue, matured, as_of: null };
}

const resultsOf = (a: SummaryResponse, b: SummaryResponse) => ({ a, b, since: '2026-01-01' });
const verdict = (a: SummaryResponse, b: SummaryResponse) => decideWinner(resultsOf(a, b));

test('decideWinner returns the headline “Too early to compare” if a confidence interval is missing', () => {
  const { headline, reason } = verdict(summary({ low: 1, high: 2 }), summary(null, 12));
  assert.equal(headline, 'Too early to compare');
  assert.match(reason, /A has 30, B has 12\./);
  assert.match(verdict(summary(null, null), summary(null)).reason, /A has an unknown number, B has 30\./);
});

test('the results page shows no confirmed revenue until both variants have a confidence interval', () => {
  const interval = { low: 1.01, high: 1.49 };
  for (const product of products) {
    const shown = (a: SummaryResponse, b: SummaryResponse) =>
      [...resultsPage(product, resultsOf(a, b)).text.matchAll(/<td>([^<]*)<\/td>/g)].map(([, text]) => text);
    const early = shown(summary(interval), summary(null, 24));
    assert.deepEqual(early.slice(-12), ['1,000', '1,000', '30', '24', ...Array(8).fill('too early')]);
    const both = shown(summary(interval), summary(interval, 24)).slice(-8);
    const texts = ['$1,230.00', '$0.61', '$1.23', '$1.01 to $1.49'];
    assert.deepEqual(
      both,
      texts.flatMap((text) => [text, text]),
    );
  }
});

test('decideWinner reports no winner if the confidence intervals overlap or touch', () => {
  for (const low of [0, 1.5, 2]) {
    const other = summary({ low, high: low + 1 });
    assert.equal(verdict(summary({ low: 1, high: 2 }), other).headline, 'No clear winner yet');
  }
});

test('decideWinner chooses the variant whose confidence interval lies above the interval of the other variant', () => {
  const [less, more] = [summary({ low: 1, high: 2 }), summary({ low: 2.5, high: 4 })];
  assert.equal(verdict(less, more).headline, 'Variant B earns more');
  const { headline, reason } = verdict(more, less);
  assert.equal(headline, 'Variant A earns more');
  assert.match(reason, /between \$2\.50 and \$4\.00 each, those of B between \$1\.00 and \$2\.00/);
});

test('drawVariant sometimes returns variant A and sometimes variant B', () => {
  // All 100 draws return the same variant with a probability of 1 in 2 to the power of 99.
  assert.equal(new Set(Array.from({ length: 100 }, drawVariant)).size, 2);
});

test('both variants of each landing page ask for the same fields, including all required fields of the vertical', () => {
  assert.deepEqual(
    products.map(({ segment }) => segment).sort(),
    builtInVerticals.verticals.map(({ segment }) => segment).sort(),
  );
  for (const product of products) {
    const vertical = builtInVerticals.verticals.find(({ segment }) => segment === product.segment)!;
    const fields = fieldsOf(product);
    const names = fields.map(({ name }) => name).sort();
    assert.deepEqual(product.questions.flatMap((question) => question.fields).sort(), names);
    const required = [
      ...vertical.required,
      ...vertical.conditional.filter(({ isRequired }) => isRequired).map(({ field }) => field),
    ];
    assert.deepEqual(
      fields
        .filter(({ required }) => required)
        .map(({ name }) => name)
        .sort(),
      [...new Set(required)].sort(),
    );
    for (const { name, choices, when } of fields) {
      const field = vertical.fields.find((known) => known.name === name)!;
      const values = 'values' in field ? field.values : field.kind === 'boolean' ? [true, false] : [];
      assert.deepEqual(
        (choices ?? [])
          .map(([value]) => value)
          .map(String)
          .sort(),
        values.map(String).sort(),
        name,
      );
      const conditions = vertical.conditional.filter((condition) => condition.field === name);
      assert.deepEqual(
        when?.is ?? [],
        conditions.map(({ when: { is } }) => is),
        name,
      );
    }
  }
});

test('the rate limiter blocks an IP address until one minute after its first request, and does not block other addresses', () => {
  const limit = new VisitorRateLimiter(2);
  assert.equal(limit.retryAfterSeconds('one', 0), 0);
  assert.equal(limit.retryAfterSeconds('one', 1_000), 0);
  assert.equal(limit.retryAfterSeconds('one', 1_500), 59);
  assert.equal(limit.retryAfterSeconds('other', 1_500), 0);
  assert.equal(limit.retryAfterSeconds('one', 59_999), 1);
  assert.equal(limit.retryAfterSeconds('one', 60_000), 0);
});

test('the rate limiter stores a limited number of IP addresses, and evicts the oldest', () => {
  const limit = new VisitorRateLimiter(1);
  for (let address = 0; address < 30_000; address++) assert.equal(limit.retryAfterSeconds(`address ${address}`, 0), 0);
  assert.equal(limit.retryAfterSeconds('address 29999', 0), 60);
  assert.equal(limit.retryAfterSeconds('address 0', 0), 0);
});
