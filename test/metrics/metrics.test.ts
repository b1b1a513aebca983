import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type MetricSources, Metrics } from '../../src/metrics/metrics.ts';

const quiet: MetricSources = {
  liveSessions: () => 3,
  requestsInFlight: () => 0,
  matchesWaiting: () => 0,
  offersAtDailyCap: () => 0,
  ledgerAppended: () => 9,
  ledgerDurable: () => 8,
  analyticsFolded: () => 7,
  analyticsLeftOut: async () => ({ duplicateClicks: 2 }),
  matcherFaults: () => 0,
  aggregatorRestarts: () => 0,
  certificate: null,
};

test('shows where things stand at the moment of the scrape', async () => {
  let live = 3;
  const metrics = new Metrics({ ...quiet, liveSessions: () => live });
  assert.match(await metrics.render(), /^marketplace_live_sessions 3$/m);
  live = 4;
  const text = await metrics.render();
  assert.match(text, /^marketplace_live_sessions 4$/m);
  assert.match(text, /^marketplace_ledger_durable_position 8$/m);
  assert.match(text, /^marketplace_analytics_left_out\{reason="duplicateClicks"\} 2$/m);
});

test('counts what should not happen', async () => {
  const metrics = new Metrics(quiet);
  metrics.clickUnrecorded();
  metrics.sessionMissing();
  metrics.sessionMissing();
  const text = await metrics.render();
  assert.match(text, /^marketplace_clicks_unrecorded_total 1$/m);
  assert.match(text, /^marketplace_sessions_missing_total 2$/m);
  assert.match(text, /^marketplace_faults_total 0$/m);
});

test('answers a scrape while the aggregator cannot', async () => {
  const metrics = new Metrics({ ...quiet, analyticsLeftOut: () => Promise.reject(new Error('gone')) });
  assert.match(await metrics.render(), /^marketplace_live_sessions 3$/m);
});

test('keeps two services in one process apart', async () => {
  const one = new Metrics(quiet);
  const other = new Metrics(quiet);
  one.fault();
  assert.match(await other.render(), /^marketplace_faults_total 0$/m);
});
