import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AnalyticsUnavailableError } from '../../src/analytics/analytics.ts';
import { type ExperimentPlanResponse, planExperiment } from '../../src/operations/experiments/plan-experiment.ts';
import { CannedAnalytics, noFigures, noUnbookedClicks, noWidgetEvents } from '../support/canned-analytics.ts';
import { liveTenant } from '../support/identities.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { callOperation, verdictOf } from './bench.ts';

const body = {
  arms: ['one-arm', 'two-arm'].map((tag) => ({ referrer_tag: tag, weight: 0.5 })),
  control: 'one-arm',
  unit: 'session',
  starts_on: '2026-05-20',
  ends_on: '2026-06-16',
  min_effect_percent: 50,
};

/** An analytics store with 20,000 matured sessions of a page, and 10 days with sessions at the end of the last 28 closed days. */
function cannedPage(): CannedAnalytics {
  const analytics = new CannedAnalytics();
  const matured = { sessions: 20_000, sessionsWithRevenue: 300, confirmedMicros: 30_000e6, confirmedUsdSquared: 5.6e6 };
  analytics.figures = { ...analytics.figures, matured };
  analytics.days = Array.from({ length: 28 }, (_, day) => ({
    ...noFigures,
    day,
    matured: false,
    unbookedClicks: noUnbookedClicks,
    widgetEvents: noWidgetEvents,
    sessions: day < 18 ? 0 : day === 20 ? 0 : 1_000,
  }));
  return analytics;
}

const run = (analytics: CannedAnalytics, more: object = {}) =>
  callOperation(planExperiment, { analytics, clock: new ManualClock(), confirmationGraceDays: 7 }, liveTenant, {
    texts: { name: 'hero-test' },
    body: { ...body, ...more },
  });

async function planOf(analytics: CannedAnalytics, more: object = {}): Promise<ExperimentPlanResponse> {
  const outcome = await run(analytics, more);
  assert.ok(outcome.ok);
  return outcome.value;
}

test('takes the sessions per day of the page from its first session on', async () => {
  const analytics = cannedPage();
  const plan = await planOf(analytics);
  assert.deepEqual(plan.basis, {
    referrer_tag: 'one-arm',
    from: '2025-11-21',
    to: '2026-04-04',
    sessions: 20_000,
    sessions_with_revenue: 300,
    rev_per_session: 1.5,
    sessions_per_day: 900,
  });
  const { fromDay, toDay, today, account, vertical, mode } = analytics.lastQuery!;
  assert.deepEqual([today - fromDay, today - toDay], [28, 1]);
  const { number } = liveTenant.vertical;
  assert.deepEqual([account, vertical, mode], [liveTenant.account, number, liveTenant.mode]);
});

test('estimates the same for a requested number of sessions per day, and finds smaller differences with more sessions', async () => {
  const analytics = cannedPage();
  const plan = await planOf(analytics);
  assert.deepEqual(await planOf(analytics, { expected_sessions_per_day: 900 }), plan);
  const larger = await planOf(analytics, { expected_sessions_per_day: 3_600, based_on: 'two-arm' });
  assert.equal(larger.basis.referrer_tag, 'two-arm');
  const [half, whole] = [larger, plan].map(({ arms }) => arms[0]!.smallest_effect_percent!);
  assert.ok(Math.abs(half! / whole! - 0.5) < 1e-9);
  // 1.08 x 7.849 x 2 x 277.75 / (1.5 x 0.5)^2 units.
  assert.ok(Math.abs(plan.arms[0]!.units_per_arm! - 8_372) <= 2, String(plan.arms[0]!.units_per_arm));
  assert.equal(plan.arms[0]!.found_on, plan.planned_day);
  assert.equal(plan.first_comparison_on, '2026-07-25');
});

test('estimates nothing if the page has too little revenue or no sessions', async () => {
  const withMatured = (sessionsWithRevenue: number | null) => {
    const analytics = cannedPage();
    analytics.figures = { ...analytics.figures, matured: { ...analytics.figures.matured, sessionsWithRevenue } };
    return analytics;
  };
  const quiet = cannedPage();
  quiet.days = quiet.days.map((day) => ({ ...day, sessions: 0 }));
  for (const analytics of [withMatured(24), withMatured(null), quiet]) {
    const { arms, outlook, first_comparison_on, planned_day } = await planOf(analytics);
    const unknown = { units_per_arm: null, found_on: null, smallest_effect_percent: null };
    assert.deepEqual([arms, outlook, first_comparison_on], [[{ arm: 'two-arm', ...unknown }], [], null]);
    assert.equal(planned_day, '2026-08-08');
  }
});

test('returns SERVICE_UNAVAILABLE while the analytics are unavailable', async () => {
  const analytics = cannedPage();
  analytics.error = new AnalyticsUnavailableError();
  assert.equal(verdictOf(await run(analytics)), 'SERVICE_UNAVAILABLE');
});
