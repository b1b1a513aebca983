import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { assignVariant, experimentName, readVisitorId } from '../../examples/landing-page/experiment/experiment.ts';
import type { Results } from '../../examples/landing-page/experiment/results.ts';
import { variants } from '../../examples/landing-page/experiment/variants.ts';
import { resultsPage } from '../../examples/landing-page/pages/results-page.ts';
import { fieldsOf } from '../../examples/landing-page/products/product.ts';
import { products } from '../../examples/landing-page/products/products.ts';
import { VisitorRateLimiter } from '../../examples/landing-page/web/visitor-rate-limiter.ts';
import { builtInVerticals } from '../../src/verticals/built-in-verticals.ts';

/** Results of an experiment that compares the variants, or does not yet. */
function resultsOf(isCompared: boolean): Results {
  const summary = {
    sessions_total: 2_000,
    marketplace_views: 1_500,
    offer_clicks: 400,
    click_rate: 0.2667,
    rev_attributed: 0,
    as_of: null,
  };
  const arms = Object.values(variants).map(({ referrerTag }) => ({
    referrer_tag: referrerTag,
    weight: 0.5,
    label: null,
    sessions: 1_900,
    units: 1_700,
    mature_sessions: 1_000,
    units_with_revenue: 30,
    revenue_per_session: 1.23,
    interval: { low: 1.01, high: 1.49 },
  }));
  const [a, b] = arms.map((arm) => ({ summary, arm }));
  const comparisons = [{ difference: isCompared ? { value: 0 } : null }];
  const days = { starts_on: '2026-01-01', revenue_days: 45, grace_days: 7 };
  return {
    experiment: {
      ...experiment,
      ...days,
      control: '',
      unit: 'visitor',
      assignment: 'hash',
      min_effect_percent: 10,
      hypothesis: '',
    },
    response: { sentence: 'A & B are <equal>.', warnings: ['Beware.'], as_of: '2026-05-01', arms, comparisons },
    a: a!,
    b: b!,
  };
}

const experiment = {
  name: experimentName,
  arms: Object.values(variants).map(({ name, referrerTag }) => ({
    referrer_tag: referrerTag,
    weight: 0.5,
    label: name,
  })),
};

test('the results page shows the sentence of the service, and revenue only if the experiment compares the variants', () => {
  for (const product of products) {
    const shown = (isCompared: boolean) => {
      const { text } = resultsPage(product, resultsOf(isCompared));
      assert.ok(text.includes('<p>A &amp; B are &lt;equal&gt;.</p>\n<p>Beware.</p>'), text);
      return [...text.matchAll(/<td>([^<]*)<\/td>/g)].map(([, cell]) => cell).slice(-10);
    };
    const counts = ['1,700', '1,700', '1,000', '1,000', '30', '30'];
    assert.deepEqual(shown(false), [...counts, ...Array(4).fill('too early')]);
    assert.deepEqual(shown(true), [...counts, '$1.23', '$1.23', '$1.01 to $1.49', '$1.01 to $1.49']);
  }
});

test('a visitor always gets the same variant, and about half of the visitors get each', () => {
  const ids = Array.from({ length: 1_000 }, () => readVisitorId(undefined));
  assert.equal(new Set(ids).size, 1_000);
  const assigned = ids.map((id) => assignVariant(experiment, id));
  assert.deepEqual(
    ids.map((id) => assignVariant(experiment, readVisitorId(id))),
    assigned,
  );
  // Another number is 6 standard deviations away.
  const visitorsOfA = assigned.filter((variant) => variant === 'a').length;
  assert.ok(visitorsOfA > 400 && visitorsOfA < 600, `${visitorsOfA}`);
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

test('the example pages use the design tokens of the consoles, except for brand colors', () => {
  const brand = ['--accent', '--accent-strong', '--on-accent', '--tint', '--shadow'];
  const themesOf = (path: string) => {
    const [light = '', dark = ''] = readFileSync(new URL(path, import.meta.url), 'utf8').split('@media');
    return [light, dark].map(
      (css) => new Map([...css.matchAll(/(--[\w-]+):\s*([^;]+);/g)].map(([, name, value]) => [name!, value])),
    );
  };
  const tokens = themesOf('../../src/web/tokens.css');
  for (const [at, own] of themesOf('../../examples/landing-page/assets/style.css').entries()) {
    const shared = [...own].filter(([name]) => !brand.includes(name));
    assert.ok(shared.length >= 7);
    for (const [name, value] of shared) assert.equal(value, tokens[at]!.get(name), name);
  }
});
