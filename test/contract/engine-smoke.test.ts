import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type ApiCaller, assertError, assertOk, widgetLoadId } from '../support/api-caller.ts';
import { RunningMarketplace } from '../support/running-marketplace.ts';
import { personalLoansFixture as fixture } from '../support/vertical-fixtures.ts';

const origin = 'https://landing.example';

// All other contract suites run on the native engine. The listener suite runs on both engines.
describe('the service on node:http', () => {
  let market: RunningMarketplace;
  let caller: ApiCaller;

  before(async () => {
    market = await RunningMarketplace.start('node', { corsOrigins: [origin] });
    caller = market.caller(fixture, { mode: 'test' });
  });
  after(() => market.close());

  test('the service on node:http responds to every operation of the API', async () => {
    const subId = await caller.createSessionWithFields('smoke', fixture.complete);
    const { offers } = await caller.offers(subId);
    assert.ok(offers.length > 0);
    const click = await caller.click(offers[0]!.click_url);
    assert.equal(click.status, 302);
    const landing = new URL(click.headers.get('location')!);
    assert.equal((await market.http.send({ path: landing.pathname + landing.search })).status, 200);
    const summary = await caller.summary({ referrer_tag: 'smoke' });
    assert.deepEqual([summary.sessions_total, summary.marketplace_views], [1, 1]);
  });

  test('every operation returns an error for an invalid request', async () => {
    assertError(await caller.post('session', '{'), 'INVALID_REQUEST', 'body');
    assertError(await caller.post('inputs', { sub_id: 'none', fields: {} }), 'SUB_ID_NOT_FOUND');
    assertError(await caller.get('marketplace', { format: 'json' }), 'INVALID_REQUEST', 'sub_id');
    assertError(await caller.get('analytics', ''), 'INVALID_REQUEST', 'referrer_tag');
    assertError(await caller.get('analytics', '', { Authorization: 'Bearer none' }), 'UNAUTHORIZED');
    assertError(await market.http.send({ path: '/v1/none' }), 'NOT_FOUND');
    assertError(await caller.post('session', 'x'.repeat(70_000)), 'PAYLOAD_TOO_LARGE');
    const lookup = await market.http.send({ path: '/c?sub=none&offer=none&v=none' });
    assert.deepEqual([lookup.status, lookup.headers.get('content-type')], [404, 'text/html; charset=utf-8']);
  });

  test('responds to HEAD and OPTIONS requests, and returns 405 for unsupported methods', async () => {
    const path = `${caller.basePath}/analytics`;
    const head = await caller.get('analytics', { referrer_tag: 'smoke' }, {}, 'HEAD');
    assert.deepEqual([head.status, head.text], [200, '']);
    const options = await market.http.send({ method: 'OPTIONS', path });
    assert.deepEqual([options.status, options.headers.get('allow')], [204, 'GET, HEAD, OPTIONS']);
    assertError(await market.http.send({ method: 'DELETE', path }), 'METHOD_NOT_ALLOWED');
  });

  test('sends CORS headers with responses, errors and preflight responses', async () => {
    const path = `${caller.basePath}/session`;
    const preflight = { Origin: origin, 'Access-Control-Request-Method': 'POST' };
    for (const answer of [
      await caller.post('session', { referrer_tag: 'smoke-cors' }, { Origin: origin }),
      await caller.post('session', 'x'.repeat(70_000), { Origin: origin }),
      await market.http.send({ method: 'OPTIONS', path, headers: preflight }),
    ]) {
      assert.equal(answer.headers.get('access-control-allow-origin'), origin);
    }
  });

  test('serves the widget page, the widget script, widget offers and widget events', async () => {
    const widget = await caller.createWidget('smoke-widget', fixture.complete);
    assert.equal((await widget.get('')).status, 200);
    assert.equal((await market.http.send({ path: '/w/widget.js' })).status, 200);
    const load = widgetLoadId(1);
    assert.ok((await widget.offers(load)).offers.length > 0);
    const events = [{ event_id: 'one', type: 'widget_loaded' }];
    assert.equal((await widget.sendEvents({ load, events })).status, 204);
    assertError(await widget.get('/offers', { load: 'none' }), 'INVALID_REQUEST', 'load');
  });

  test('serves documentation, logos and the operations listener', async () => {
    const { offers } = await caller.offers(await caller.createSessionWithFields('smoke-logo', fixture.complete));
    const logo = new URL(offers[0]!.logo_url);
    for (const path of ['/docs', `${caller.basePath}/openapi.json`, logo.pathname + logo.search]) {
      assert.equal((await market.http.send({ path })).status, 200, path);
    }
    for (const path of ['/healthz', '/readyz', '/metrics']) {
      assert.equal((await market.operations.send({ path })).status, 200, path);
    }
    const keys = await market.operations.send({ path: '/keys' });
    assert.equal(keys.status, 401);
  });

  test('creates a session from a chunked request', async () => {
    const answer = await caller.http.send({
      method: 'POST',
      path: `${caller.basePath}/session`,
      headers: {
        Authorization: `Bearer ${caller.key}`,
        'Content-Type': 'application/json',
        'Transfer-Encoding': 'chunked',
      },
      body: '{"referrer_tag":"smoke-chunked"}',
    });
    assertOk(answer);
    assert.equal((await caller.summary({ referrer_tag: 'smoke-chunked' })).sessions_total, 1);
  });
});
