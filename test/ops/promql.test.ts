import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parsePromQl } from './promql.ts';

test('parses series with labels and functions', () => {
  const { fault, selectors } = parsePromQl(
    'histogram_quantile(0.9, sum by (le, route) (rate(took_seconds_bucket{route=~"a|b",job="x"}[$__rate_interval]))) > on(instance) limit',
  );
  assert.equal(fault, null);
  assert.deepEqual(selectors[0], {
    metric: 'took_seconds_bucket',
    matchers: [
      { label: 'route', operator: '=~', value: 'a|b' },
      { label: 'job', operator: '=', value: 'x' },
    ],
    functions: ['rate', 'histogram_quantile'],
    groupedBy: ['le', 'route', 'instance'],
  });
  assert.equal(selectors[1]?.metric, 'limit');
});

test('reports an invalid expression', () => {
  for (const text of ['sum(rate(x[5m])', 'sum by (le (x)', 'rate(x[5m]]', 'x{route=}', 'x >', '']) {
    assert.notEqual(parsePromQl(text).fault, null, text);
  }
});
