import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SummaryResponse } from '../../examples/landing-page/api/marketplace-api.ts';
import { decideWinner } from '../../examples/landing-page/experiment/results.ts';
import { VisitorRateLimiter } from '../../examples/landing-page/web/visitor-rate-limiter.ts';

function summary(interval: SummaryResponse['rev_per_session_ci95'], matured = 100): SummaryResponse {
  return {
    sessions_total: 200,
    marketplace_views: 150,
    offer_clicks: 50,
    click_rate: 0.333333,
    rev_attributed: 1_000,
    rev_confirmed: 800,
    rev_per_session: 4,
    sessions_matured: matured,
    rev_per_session_matured: 6,
    rev_per_session_ci95: interval,
    as_of: null,
  };
}

const verdict = (a: SummaryResponse, b: SummaryResponse) => decideWinner({ a, b, since: '2026-01-01' });

test('reports that it is too early if an interval is missing, whatever the figures', () => {
  const { headline, reason } = verdict(summary({ low: 1, high: 2 }), summary(null, 12));
  assert.equal(headline, 'Too early to judge');
  assert.match(reason, /A has 100, B has 12/);
});

test('reports no winner if the intervals overlap or touch', () => {
  for (const [low, high] of [
    [1.5, 3],
    [2, 3],
    [0, 1],
  ] as const) {
    assert.equal(verdict(summary({ low: 1, high: 2 }), summary({ low, high })).headline, 'No clear winner yet');
  }
});

test('reports that the variant with the higher interval earns more', () => {
  const [less, more] = [summary({ low: 1, high: 2 }), summary({ low: 2.5, high: 4 })];
  assert.equal(verdict(less, more).headline, 'Variant B earns more');
  const { headline, reason } = verdict(more, less);
  assert.equal(headline, 'Variant A earns more');
  assert.match(reason, /between \$2\.50 and \$4\.00 each, those of B between \$1\.00 and \$2\.00/);
});

test('blocks an address until the end of its minute, and does not block other addresses', () => {
  const limit = new VisitorRateLimiter(2);
  assert.equal(limit.retryAfterSeconds('one', 0), 0);
  assert.equal(limit.retryAfterSeconds('one', 1_000), 0);
  assert.equal(limit.retryAfterSeconds('one', 1_500), 59);
  assert.equal(limit.retryAfterSeconds('other', 1_500), 0);
  assert.equal(limit.retryAfterSeconds('one', 59_999), 1);
  assert.equal(limit.retryAfterSeconds('one', 60_000), 0);
});

test('stores a limited number of addresses, and evicts the oldest', () => {
  const limit = new VisitorRateLimiter(1);
  for (let address = 0; address < 30_000; address++) assert.equal(limit.retryAfterSeconds(`address ${address}`, 0), 0);
  assert.equal(limit.retryAfterSeconds('address 29999', 0), 60);
  assert.equal(limit.retryAfterSeconds('address 0', 0), 0);
});
