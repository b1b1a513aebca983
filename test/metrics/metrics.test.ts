import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { test } from 'node:test';
import type { GaugeSources } from '../../src/metrics/gauges.ts';
import { BucketHistogram, loopDelayBuckets } from '../../src/metrics/histogram.ts';
import { Metrics, RequestCounter } from '../../src/metrics/metrics.ts';

const gaugeSources: GaugeSources = {
  build: { version: '1.2.3', engine: 'node' },
  dataDir: tmpdir(),
  eventLoop: {
    delays: new BucketHistogram(loopDelayBuckets),
    utilization: () => ({ active: 1_500, idle: 500, utilization: 0.75 }),
  },
  ready: () => true,
  liveSessions: () => 3,
  liveSessionsMax: 10,
  requestsInFlight: () => 0,
  apiKeys: () => 2,
  catalogs: () => [],
  matchThreads: 1,
  matchThreadsReady: () => 1,
  matchesPending: () => 0,
  offersAtDailyCap: () => 0,
  logHealthy: { ledger: () => true, journal: () => true },
  ledgerAppendedPosition: () => 9,
  ledgerDurablePosition: () => 8,
  analyticsAppliedPosition: () => 7,
  analyticsLagSeconds: () => 0.25,
  aggregatorUp: () => true,
  analyticsSkippedRecords: async () => ({ duplicateClicks: 2 }),
  certificateStatus: null,
};

function createMetrics(sources: Partial<GaugeSources> = {}): Metrics {
  const metrics = new Metrics(['other', 'session']);
  metrics.registerGauges({ ...gaugeSources, ...sources });
  return metrics;
}

test('each scrape reads the current values of the gauges', async () => {
  let live = 3;
  const metrics = createMetrics({ liveSessions: () => live });
  assert.match(await metrics.render(), /^marketplace_live_sessions 3$/m);
  live = 4;
  const text = await metrics.render();
  assert.match(text, /^marketplace_live_sessions 4$/m);
  assert.match(text, /^marketplace_live_sessions_max 10$/m);
  assert.match(text, /^marketplace_ledger_durable_position 8$/m);
  assert.match(text, /^marketplace_analytics_lag_records 1$/m);
  assert.match(text, /^marketplace_analytics_lag_seconds 0.25$/m);
  assert.match(text, /^marketplace_analytics_skipped_records_total\{reason="duplicateClicks"\} 2$/m);
  assert.match(text, /^marketplace_event_loop_active_seconds_total 1.5$/m);
  assert.match(text, /^marketplace_build_info\{version="1.2.3",engine="node",node="22[.0-9]+"\} 1$/m);
});

test('counters are not reset by a scrape', async () => {
  const metrics = createMetrics();
  metrics.requests.record(1, 200, 120);
  metrics.requests.record(1, 200, 80);
  for (const text of [await metrics.render(), await metrics.render()]) {
    assert.match(text, /^marketplace_requests_total\{route="session",status="200"\} 2$/m);
    assert.match(text, /^marketplace_request_duration_seconds_bucket\{route="session",le="0.0001"\} 1$/m);
    assert.match(text, /^marketplace_request_duration_seconds_bucket\{route="session",le="\+Inf"\} 2$/m);
    assert.match(text, /^marketplace_request_duration_seconds_sum\{route="session"\} 0.0002$/m);
    assert.match(text, /^marketplace_request_duration_seconds_count\{route="session"\} 2$/m);
    assert.match(text, /^marketplace_request_duration_seconds_count\{route="other"\} 0$/m);
  }
});

test('the metrics count the record groups of ledger and journal separately', async () => {
  const metrics = createMetrics();
  metrics.logGroupObserver('journal')(7, 500, 30);
  const text = await metrics.render();
  assert.match(text, /^marketplace_log_group_records_sum\{log="journal"\} 7$/m);
  assert.match(text, /^marketplace_log_group_bytes_sum\{log="journal"\} 500$/m);
  assert.match(text, /^marketplace_log_write_duration_seconds_sum\{log="journal"\} 0.00003$/m);
  assert.match(text, /^marketplace_log_group_records_count\{log="ledger"\} 0$/m);
});

test('the metrics count errors and rejections', async () => {
  const metrics = createMetrics();
  metrics.countUnrecordedClick();
  metrics.countMissingSession();
  metrics.countMissingSession();
  metrics.countAuthRefusal('minute');
  metrics.countAuthRefusal('unauthorized');
  metrics.countLogIncident('ledger', 'segment-abandoned');
  const text = await metrics.render();
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
  test(`reports the last known counts while the aggregator ${state}`, async () => {
    let readCounts: () => Promise<Readonly<Record<string, number>>> = async () => ({ duplicateClicks: 2 });
    const metrics = createMetrics({ analyticsSkippedRecords: () => readCounts() });
    await metrics.render();
    readCounts = query;
    const text = await metrics.render();
    assert.match(text, /^marketplace_live_sessions 3$/m);
    assert.match(text, /^marketplace_analytics_skipped_records_total\{reason="duplicateClicks"\} 2$/m);
  });
}

test('sends one query to the aggregator for concurrent scrapes', async () => {
  let queries = 0;
  const metrics = createMetrics({
    analyticsSkippedRecords: async () => {
      queries++;
      await new Promise(setImmediate);
      return { duplicateClicks: queries };
    },
  });
  await Promise.all([metrics.render(), metrics.render(), metrics.render()]);
  assert.equal(queries, 1);
  assert.match(await metrics.render(), /^marketplace_analytics_skipped_records_total\{reason="duplicateClicks"\} 2$/m);
});

test('omits the disk metrics if the data folder cannot be read', async () => {
  const text = await createMetrics({ dataDir: '/nowhere/at/all' }).render();
  assert.match(text, /^marketplace_live_sessions 3$/m);
  assert.doesNotMatch(text, /^marketplace_data_disk_free_bytes \d/m);
});

test('two services in one process have separate metrics', async () => {
  const one = createMetrics();
  const other = createMetrics();
  one.countRequestError();
  assert.match(await other.render(), /^marketplace_request_errors_total 0$/m);
});

test('two concurrent scrapes return the same counts', async () => {
  const counts = Promise.withResolvers<Readonly<Record<string, number>>>();
  const metrics = createMetrics({ analyticsSkippedRecords: () => counts.promise });
  const both = [metrics.render(), metrics.render()];
  counts.resolve({ duplicateClicks: 7 });
  for (const text of await Promise.all(both)) {
    assert.match(text, /^marketplace_analytics_skipped_records_total\{reason="duplicateClicks"\} 7$/m);
  }
});

test('counts replies by route and status, and durations by route', () => {
  const requests = new RequestCounter(['other', 'session']);
  requests.record(1, 200, 90);
  requests.record(1, 200, 110);
  requests.record(1, 503, 2_000_001);
  requests.record(0, 404, 10);
  requests.record(0, 599, 10);
  assert.deepEqual(
    [...requests.counts()],
    [
      { route: 'other', status: 404, count: 1 },
      { route: 'other', status: 599, count: 1 },
      { route: 'session', status: 200, count: 2 },
      { route: 'session', status: 503, count: 1 },
    ],
  );
  const { count, sum } = requests.durations.snapshot(1);
  assert.deepEqual([count, sum], [3, 2.000201]);
});
