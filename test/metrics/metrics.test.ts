import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { test } from 'node:test';
import fc from 'fast-check';
import { bounds } from '../../src/bounds.ts';
import { type GaugeSources, registerGauges } from '../../src/metrics/gauges.ts';
import { BucketHistogram, eventLoopDelayBuckets } from '../../src/metrics/histogram.ts';
import { Metrics } from '../../src/metrics/metrics.ts';
import { EventLoopMonitor } from '../../src/metrics/process-metrics.ts';

const gaugeSources: GaugeSources = {
  build: { version: '1.2.3', engine: 'node' },
  dataDir: tmpdir(),
  eventLoopDelays: new BucketHistogram(eventLoopDelayBuckets),
  catalogs: () => [],
  logHealthy: { ledger: () => true, journal: () => true },
  gauges: {
    marketplace_ready: () => 1,
    marketplace_live_sessions: () => 3,
    marketplace_live_sessions_max: () => 10,
    marketplace_requests_in_flight: () => 0,
    marketplace_api_keys: () => 2,
    marketplace_match_threads: () => 1,
    marketplace_match_threads_ready: () => 1,
    marketplace_matches_pending: () => 0,
    marketplace_offers_at_daily_cap: () => 0,
    marketplace_offers_at_budget: () => 0,
    marketplace_offers_paced: () => 0,
    marketplace_ledger_appended_position: () => 9,
    marketplace_ledger_durable_position: () => 8,
    marketplace_analytics_applied_position: () => 7,
    marketplace_analytics_lag_seconds: () => 0.25,
    marketplace_aggregator_up: () => 1,
    marketplace_audit_log_healthy: () => 1,
  },
  analyticsSkippedRecords: async () => ({ duplicateClicks: 2 }),
  certificateStatus: null,
};

function createMetrics(sources: Partial<GaugeSources> = {}): Metrics {
  const metrics = new Metrics(['other', 'session']);
  registerGauges(metrics.registry, { ...gaugeSources, ...sources });
  return metrics;
}

test('each scrape returns the current values of the gauges', async () => {
  let live = 3;
  const metrics = createMetrics({ gauges: { ...gaugeSources.gauges, marketplace_live_sessions: () => live } });
  assert.match(await metrics.registry.renderPrometheusText(), /^marketplace_live_sessions 3$/m);
  live = 4;
  const text = await metrics.registry.renderPrometheusText();
  assert.match(text, /^marketplace_live_sessions 4$/m);
  assert.match(text, /^marketplace_ledger_durable_position 8$/m);
  assert.match(text, /^marketplace_analytics_lag_records 1$/m);
  assert.match(text, /^marketplace_analytics_lag_seconds 0.25$/m);
  assert.match(text, /^marketplace_event_loop_active_seconds_total [0-9.]*[1-9][0-9]*$/m);
});

test('counts responses by route and status, and measures durations by route; a scrape does not reset the counts', async () => {
  const metrics = createMetrics();
  metrics.requests.record(1, 200, 120);
  metrics.requests.record(1, 200, 80);
  metrics.requests.record(1, 503, 2_000_001);
  metrics.requests.record(0, 404, 10);
  metrics.requests.record(0, 599, 10);
  const counts = [...metrics.requests.counts()].map(({ route, status, count }) => [route, status, count]);
  assert.deepEqual(counts, [
    ['other', 404, 1],
    ['other', 599, 1],
    ['session', 200, 2],
    ['session', 503, 1],
  ]);
  for (const text of [await metrics.registry.renderPrometheusText(), await metrics.registry.renderPrometheusText()]) {
    assert.match(text, /^marketplace_requests_total\{route="session",status="200"\} 2$/m);
    assert.match(text, /^marketplace_request_duration_seconds_bucket\{route="session",le="0.0001"\} 1$/m);
    assert.match(text, /^marketplace_request_duration_seconds_bucket\{route="session",le="\+Inf"\} 3$/m);
    assert.match(text, /^marketplace_request_duration_seconds_sum\{route="session"\} 2.000201$/m);
    assert.match(text, /^marketplace_request_duration_seconds_count\{route="session"\} 3$/m);
    assert.match(text, /^marketplace_request_duration_seconds_count\{route="other"\} 2$/m);
  }
});

test('the metrics count errors and rejected requests', async () => {
  const metrics = createMetrics();
  metrics.countUnrecordedClick();
  metrics.countMissingSession();
  metrics.countMissingSession();
  metrics.countAuthRefusal('minute');
  metrics.countAuthRefusal('unauthorized');
  metrics.countEventLogIncident('ledger', 'segment-abandoned');
  // Another service of the same process has its own metrics.
  createMetrics().countRequestError();
  const text = await metrics.registry.renderPrometheusText();
  assert.match(text, /^marketplace_unrecorded_clicks_total 1$/m);
  assert.match(text, /^marketplace_missing_sessions_total 2$/m);
  assert.match(text, /^marketplace_request_errors_total 0$/m);
  assert.match(text, /^marketplace_rate_limited_requests_total\{limit="minute"\} 1$/m);
  assert.match(text, /^marketplace_rate_limited_requests_total\{limit="day"\} 0$/m);
  assert.match(text, /^marketplace_unauthorized_requests_total\{reason="unauthorized"\} 1$/m);
  assert.match(text, /^marketplace_log_incidents_total\{log="ledger",kind="segment-abandoned"\} 1$/m);
});

for (const [state, query] of [
  ['fails', () => Promise.reject(new Error('gone'))],
  ['does not answer', () => new Promise<never>(() => {})],
] as const) {
  test(`a scrape reports the last known counts while the aggregator ${state}`, async (t) => {
    const { scrapeReadTimeoutMs } = bounds;
    Object.assign(bounds, { scrapeReadTimeoutMs: 50 });
    t.after(() => Object.assign(bounds, { scrapeReadTimeoutMs }));
    let readCounts: () => Promise<Readonly<Record<string, number>>> = async () => ({ duplicateClicks: 2 });
    const metrics = createMetrics({ analyticsSkippedRecords: () => readCounts() });
    await metrics.registry.renderPrometheusText();
    readCounts = query;
    const text = await metrics.registry.renderPrometheusText();
    assert.match(text, /^marketplace_live_sessions 3$/m);
    assert.match(text, /^marketplace_analytics_skipped_records_total\{reason="duplicateClicks"\} 2$/m);
  });
}

test('concurrent scrapes share one query to the aggregator and return the same counts', async () => {
  let queries = 0;
  const metrics = createMetrics({
    analyticsSkippedRecords: async () => {
      queries++;
      await new Promise(setImmediate);
      return { duplicateClicks: queries };
    },
  });
  const skipped = (count: number) =>
    new RegExp(`^marketplace_analytics_skipped_records_total\\{reason="duplicateClicks"\\} ${count}$`, 'm');
  for (const text of await Promise.all([1, 2, 3].map(() => metrics.registry.renderPrometheusText())))
    assert.match(text, skipped(1));
  assert.equal(queries, 1);
  assert.match(await metrics.registry.renderPrometheusText(), skipped(2));
});

test('a scrape omits the disk metrics if the data folder cannot be read', async () => {
  const text = await createMetrics({ dataDir: '/nowhere/at/all' }).registry.renderPrometheusText();
  assert.match(text, /^marketplace_live_sessions 3$/m);
  assert.doesNotMatch(text, /^marketplace_data_disk_free_bytes \d/m);
});

test('a scrape omits a metric with labels whose values are unknown', async () => {
  const { registry } = createMetrics();
  registry.registerGauge('test_experiments', 'Experiments.', () => null, ['state']);
  assert.doesNotMatch(await registry.renderPrometheusText(), /^test_experiments/m);
});

test('observe counts a value in every histogram bucket with an equal or higher upper bound, and changes no other series', () => {
  const upperBounds = [10, 70, 1_000, 50_000];
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.nat(100_000), fc.constantFrom(...upperBounds))), (values) => {
      const histogram = new BucketHistogram({ upperBounds, unitsPerPublishedUnit: 10 }, 3);
      for (const value of values) histogram.observe(value, 1);
      const { count, sum, buckets } = histogram.takeSnapshot(1);
      assert.equal(count, values.length);
      assert.equal(sum, values.reduce((total, value) => total + value, 0) / 10);
      const expected = upperBounds.map((end) => ({
        end: end / 10,
        count: values.filter((value) => value <= end).length,
      }));
      assert.deepEqual(buckets, expected);
      assert.deepEqual([histogram.takeSnapshot(0).count, histogram.takeSnapshot(2).count], [0, 0]);
    }),
  );
});

test('a scrape does not reset the histogram of event loop delays', async (t) => {
  const monitor = new EventLoopMonitor();
  t.after(() => monitor.close());
  const blockedMs = 250;
  const until = performance.now() + bounds.loopDelaySampleIntervalMs + blockedMs;
  while (performance.now() < until);
  while (monitor.delays.takeSnapshot().count === 0) await new Promise(setImmediate);
  for (let reader = 0; reader < 2; reader++) {
    const { count, buckets } = monitor.delays.takeSnapshot();
    const below = buckets.find(({ end }) => end === 0.2)?.count ?? 0;
    assert.ok(count - below >= 1, `${below} of ${count} timers were on time`);
  }
});
