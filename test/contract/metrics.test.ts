import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { bounds } from '../../src/bounds.ts';
import { ChangeableCatalogs, withoutOffers } from '../support/changeable-catalogs.ts';
import { generateCatalog } from '../support/random-catalog.ts';
import { RunningMarketplace } from '../support/running-marketplace.ts';
import { requestEveryRoute, Scrape } from '../support/scrape.ts';
import { personalLoansFixture as fixture } from '../support/vertical-fixtures.ts';

const answered: Readonly<Record<string, number>> = {
  'session 200': 3,
  'session 400': 1,
  'session 401': 1,
  'session 405': 1,
  'inputs 200': 2,
  'inputs 204': 1,
  'inputs 413': 1,
  'marketplace 200': 4,
  'analytics 200': 1,
  'click 302': 1,
  'click 404': 1,
  'sandbox_landing 200': 1,
  'logo 200': 1,
  'widget_page 200': 1,
  'widget_script 200': 1,
  'widget_offers 200': 1,
  'widget_events 204': 1,
  'other 404': 2,
};

describe('metrics after requests to every route', () => {
  let market: RunningMarketplace;
  let scrape: Scrape;
  before(async () => {
    market = await RunningMarketplace.start('uws');
    await requestEveryRoute(market);
    await market.operations.send({ path: '/nowhere' });
    scrape = await Scrape.of(market.operations);
  });
  after(() => market?.close());

  test('the metrics count responses of the public listener by route and status', () => {
    const seen = scrape
      .find('marketplace_requests_total')
      .map(({ labels, value }) => [`${labels.route} ${labels.status}`, value] as const);
    assert.deepEqual(Object.fromEntries([...seen].sort()), Object.fromEntries(Object.entries(answered).sort()));
    assert.equal(scrape.value('marketplace_requests_in_flight'), 0);
    assert.equal(scrape.value('marketplace_request_errors_total'), 0);
    assert.equal(scrape.value('marketplace_request_timeouts_total'), 0);
    assert.equal(scrape.value('marketplace_unauthorized_requests_total', { reason: 'unauthorized' }), 1);
    assert.equal(scrape.value('marketplace_widget_events_total', { type: 'widget_loaded' }), 1);
  });

  test('the metrics contain the duration of every request and the number of stored records', () => {
    const requests = new Map<string, number>();
    for (const { labels, value } of scrape.find('marketplace_requests_total')) {
      requests.set(labels.route!, (requests.get(labels.route!) ?? 0) + value);
    }
    for (const { labels, value } of scrape.find('marketplace_request_duration_seconds_count')) {
      assert.equal(value, requests.get(labels.route!) ?? 0, labels.route);
    }
    const storedIn = (log: string) => scrape.value('marketplace_log_group_records_sum', { log });
    assert.equal(storedIn('ledger'), scrape.value('marketplace_ledger_durable_position'));
    assert.ok(storedIn('journal') >= 2);
    assert.equal(scrape.value('marketplace_match_threads'), 1);
  });

  test('metric names follow the naming rules of Prometheus', () => {
    const { families } = scrape;
    assert.ok(families.size > 40);
    for (const { name, help, type, samples } of families.values()) {
      assert.match(name, /^(marketplace|process|nodejs)(_[a-z]+)+$/, name);
      assert.match(help, /\.$/, name);
      assert.equal(name.endsWith('_total'), type === 'counter', `${name} is a ${type}`);
      // Names use base units. The suffixes of histograms are reserved.
      assert.doesNotMatch(
        name,
        /_(ms|us|millis|microseconds|milliseconds|minutes|kb|mb|mib|percent|bucket|sum|count)\b/,
      );
      assert.doesNotMatch(name, /(duration|delay|lag)$/, `${name} has no unit`);
      assert.ok(
        samples.length > 0 || /^marketplace_(log_troubles|widget_events)_total$/.test(name),
        `${name} is empty`,
      );
      // Label values must come from a fixed list.
      assert.ok(samples.length <= 400, `${name} has ${samples.length} samples`);
    }
  });
});

test('the metrics contain the version, sizes and limits of the service', async (t) => {
  const market = await RunningMarketplace.start('uws', { maxSessions: 1_234 });
  t.after(() => market.close());
  const caller = market.caller(fixture);
  await caller.createSession('limits');
  await caller.summary({ referrer_tag: 'limits' });
  const scrape = await Scrape.of(market.operations);
  const { version, engine: runs, node } = scrape.find('marketplace_build_info')[0]!.labels;
  assert.match(version!, /^\d+\.\d+\.\d+/);
  assert.deepEqual([runs, node], ['uws', process.versions.node]);
  for (const [name, value] of [
    ['marketplace_ready', 1],
    ['marketplace_live_sessions', 1],
    ['marketplace_live_sessions_max', 1_234],
    ['marketplace_api_keys', 1],
    ['marketplace_aggregator_up', 1],
    ['marketplace_audit_log_healthy', 1],
    ['marketplace_analytics_applied_position', 1],
    ['marketplace_analytics_lag_records', 0],
    ['marketplace_analytics_lag_seconds', 0],
    ['marketplace_catalog_reload_failed', 0],
  ] as const) {
    for (const sample of scrape.find(name)) assert.equal(sample.value, value, name);
    assert.ok(scrape.find(name).length > 0, name);
  }
  const free = scrape.value('marketplace_data_disk_free_bytes');
  assert.ok(free > 0 && free <= scrape.value('marketplace_data_disk_size_bytes'));
  assert.ok(scrape.value('process_open_fds') > 10);
  assert.ok(scrape.value('process_cpu_seconds_total') > 0);
  assert.ok(scrape.value('nodejs_heap_size_used_bytes') < scrape.value('nodejs_heap_size_limit_bytes'));
});

test('the metrics count the requests to matching threads', async (t) => {
  const text = JSON.stringify(generateCatalog(7, 2 * bounds.matchInThreadOffersMax));
  const catalogs = (['live', 'test'] as const).map((mode) => ({ vertical: fixture.vertical, mode, text }));
  const market = await RunningMarketplace.start('uws', { matcherThreads: 1, catalogs });
  t.after(() => market.close());
  const caller = market.caller(fixture);
  for (let visit = 0; visit < 3; visit++)
    await caller.offers(await caller.createSessionWithFields('many', fixture.complete));
  const scrape = await Scrape.of(market.operations);
  assert.equal(scrape.value('marketplace_match_batch_requests_count'), 3);
  assert.equal(scrape.value('marketplace_match_batch_requests_bucket', { le: '1' }), 3);
  assert.equal(scrape.value('marketplace_match_threads'), 1);
  assert.equal(scrape.value('marketplace_matches_pending'), 0);
});

test('the metrics contain the active catalog and the number of failed reloads', async (t) => {
  const catalogs = new ChangeableCatalogs(fixture);
  const market = await RunningMarketplace.start('uws', { catalogs: catalogs.sources });
  t.after(() => market.close());
  const live = { vertical: fixture.vertical.segment, mode: 'live' };
  const look = async () => {
    const scrape = await Scrape.of(market.operations);
    const [inUse, ...others] = scrape.find('marketplace_catalog_info', live);
    assert.equal(others.length, 0);
    return {
      version: inUse?.labels.version,
      sinceMs: 1000 * scrape.value('marketplace_catalog_activated_timestamp_seconds', live),
      offers: scrape.value('marketplace_catalog_offers', live),
      faulty: scrape.value('marketplace_catalog_reload_failed', live),
    };
  };
  const first = await look();
  market.clock.advance(3_600_000);
  catalogs.writeCatalog({ ...catalogs.initialCatalog, lenders: [] });
  await market.marketplace.reloadCatalogs();
  assert.deepEqual(await look(), { ...first, faulty: 1 });
  const { id } = catalogs.initialCatalog.lenders[0]!.offers[0]!;
  catalogs.writeCatalog(withoutOffers(catalogs.initialCatalog, [id]));
  await market.marketplace.reloadCatalogs();
  const second = await look();
  assert.notEqual(second.version, first.version);
  assert.deepEqual([second.faulty, second.offers, second.sinceMs], [0, first.offers - 1, first.sinceMs + 3_600_000]);
});
