import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bounds } from '../../src/bounds.ts';
import { packageVersion } from '../../src/server/version.ts';
import { assertOk, assertTimestamp } from '../support/api-caller.ts';
import { type Engine, RunningMarketplace } from '../support/running-marketplace.ts';
import { allFixtures, personalLoansFixture as fixture } from '../support/vertical-fixtures.ts';
import { askOperator } from './operator-request.ts';

type Status = Readonly<Record<string, never>> & {
  readonly started_at: string;
  readonly uptime_seconds: number;
  readonly disk: { readonly free_bytes: number; readonly size_bytes: number };
  readonly matching: { readonly threads: number; readonly threads_ready: number };
  readonly ledger: { readonly durable_position: number };
  readonly analytics: { readonly healthy: boolean; readonly applied_position: number };
};

/** Reads the values of the metrics without labels. */
async function readMetrics(market: RunningMarketplace): Promise<ReadonlyMap<string, number>> {
  const { text } = await askOperator(market, { path: '/metrics' });
  const samples = text.matchAll(/^(\w+) (\S+)$/gm);
  return new Map([...samples].map(([, name, value]) => [name!, Number(value)]));
}

for (const engine of ['uws', 'node'] satisfies Engine[]) {
  test(`GET /status on the engine ${engine} shows the values of the metrics, and the settings of the service`, async (t) => {
    const limits = { requestsPerMinute: 77, sessionsPerDay: 5_000 };
    const market = await RunningMarketplace.start(engine, { limits });
    t.after(() => market.close());
    const caller = market.caller(fixture);
    for (let i = 0; i < 3; i++) assertOk(await caller.post('session', { referrer_tag: 'status' }));
    assertOk(await caller.get('tags', '')); // Waits until the analytics contain the sessions.

    const status = assertOk<Status>(await askOperator(market, { path: '/status' }));
    const metrics = await readMetrics(market);
    const metric = (name: string) => metrics.get(`marketplace_${name}`);
    const { started_at, uptime_seconds, disk, analytics, ...others } = status;
    assert.deepEqual(others, {
      ready: true,
      reasons: [],
      version: packageVersion,
      engine,
      node: process.versions.node,
      now: new Date(market.clock.wallMs()).toISOString(),
      verticals: allFixtures.map(({ vertical }) => vertical.segment),
      sessions: { live: 3, limit: metric('live_sessions_max') },
      requests_in_flight: 0,
      keys: 1,
      matching: { threads: metric('match_threads'), threads_ready: metric('match_threads_ready'), pending: 0 },
      ledger: { healthy: true, appended_position: 3, durable_position: 3 },
      journal: { healthy: true },
      certificate: null,
      test_clock: null,
      default_limits: {
        requests_per_minute: 77,
        analytics_per_minute: bounds.analyticsPerMinuteDefault,
        sessions_per_day: 5_000,
      },
    });
    assert.deepEqual(
      { ...analytics, lag_seconds: 0 },
      { healthy: true, applied_position: 3, lag_records: 0, lag_seconds: 0 },
    );
    assert.equal(disk.size_bytes, metric('data_disk_size_bytes'));
    assert.ok(disk.free_bytes > 0 && disk.free_bytes <= disk.size_bytes);
    assert.equal(assertTimestamp(started_at), Math.floor(metrics.get('process_start_time_seconds')! * 1000));
    assert.ok(Number.isInteger(uptime_seconds) && uptime_seconds >= 0);

    const head = await askOperator(market, { method: 'HEAD', path: '/status' });
    assert.deepEqual([head.status, head.text], [200, '']);
  });
}
