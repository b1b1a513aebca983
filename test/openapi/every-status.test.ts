import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import Database from 'better-sqlite3';
import { bounds } from '../../src/bounds.ts';
import { dataPaths } from '../../src/files/data-paths.ts';
import { type ApiCaller, WidgetCaller, widgetLoadId } from '../support/api-caller.ts';
import { documentCheckFor } from '../support/document-check.ts';
import { HttpClient, type HttpRequest, type HttpResponse } from '../support/http-client.ts';
import { generateCatalog } from '../support/random-catalog.ts';
import { runAfterTest } from '../support/run-after-test.ts';
import { type Engine, RunningMarketplace } from '../support/running-marketplace.ts';
import { equipmentLeasesFixture, personalLoansFixture as fixture } from '../support/vertical-fixtures.ts';

const sessionsHeld = 12;

/** A catalog so large that explaining its offers takes more than one turn of the event loop. */
const largeCatalog = (seed: number) => JSON.stringify(generateCatalog(seed, 2 * bounds.explainedOffersPerTurn));

for (const engine of ['uws', 'node'] as const) {
  test(`the service on ${engine} returns every documented status and error code`, (t) => returnEveryStatus(t, engine));
}

async function returnEveryStatus(t: TestContext, engine: Engine): Promise<void> {
  // `neverEnd` waits for the deadline, which must be below the 10 s after which an idle connection is closed.
  const { requestDeadlineMs } = bounds;
  Object.assign(bounds, { requestDeadlineMs: 5_000 });
  runAfterTest(t, () => Object.assign(bounds, { requestDeadlineMs }));
  const market = await RunningMarketplace.start(engine, {
    maxSessions: sessionsHeld,
    maxReferrerTags: 7,
    catalogs: [
      { vertical: fixture.vertical, mode: 'live', text: largeCatalog(1) },
      { vertical: fixture.vertical, mode: 'test', text: largeCatalog(2) },
      ...equipmentLeasesFixture.catalogs,
    ],
  });
  runAfterTest(t, () => market.close());
  const caller = market.caller(fixture);

  const subId = await walkThrough(market, caller);
  await beRefused(market, caller);
  await beRefusedOnPages(market, caller);
  await spendLimits(market);
  await breakDown(market, caller, subId);
  await askTooMuch(market, t);
  await askWhileNothingIsCounted(market, caller);
  await neverEnd(market, t, caller);
  await followToTheEnd(market, caller, subId);
  for (let more = 0; more < sessionsHeld; more++) await caller.post('session', { referrer_tag: 'full-store' });
  assert.equal((await caller.post('session', { referrer_tag: 'full-store' })).status, 503);
  assert.equal((await caller.post('session', { referrer_tag: 'one-too-many' })).status, 403);

  const check = documentCheckFor(fixture.vertical.segment)!;
  assert.deepEqual(
    check.documentedResponses.filter((status) => !check.checkedResponses.has(status)),
    [],
  );
}

const experiment = {
  arms: ['one-arm', 'two-arm'].map((tag) => ({ referrer_tag: tag, weight: 0.5 })),
  control: 'one-arm',
  unit: 'session',
  starts_on: '2026-05-20',
};
const report = { load: widgetLoadId(1), events: [{ event_id: 'one', type: 'widget_loaded' }] };

/** Sends requests that succeed. Returns the sub_id of a session. */
async function walkThrough({ http }: RunningMarketplace, caller: ApiCaller): Promise<string> {
  const subId = await caller.createSessionWithFields('walk-through', fixture.complete);
  const { offers } = await caller.offers(subId);
  assert.equal((await caller.click(offers[0]!.click_url)).status, 302);
  await caller.summary({ referrer_tag: 'walk-through' });
  assert.equal((await caller.get('tags', {})).status, 200);
  assert.equal((await caller.send('POST', 'experiments/walk-through/plan', experiment)).status, 200);
  assert.equal((await caller.send('PUT', 'experiments/walk-through', experiment)).status, 200);
  const byHash = {
    ...experiment,
    arms: experiment.arms.map((arm) => ({ ...arm, referrer_tag: `hash-${arm.referrer_tag}` })),
  };
  const visitors = { ...byHash, control: 'hash-one-arm', unit: 'visitor', assignment: 'hash' };
  assert.equal((await caller.send('PUT', 'experiments/by-hash', visitors)).status, 200);
  for (const path of [
    '',
    '/walk-through',
    '/walk-through/results?series=true',
    '/walk-through/units',
    '/by-hash/arm?unit_id=1',
  ]) {
    assert.equal((await caller.send('GET', `experiments${path}`)).status, 200);
  }
  const closing = { outcome: 'no_decision' };
  assert.equal((await caller.send('POST', 'experiments/walk-through/close', closing)).status, 200);
  assert.equal((await caller.send('DELETE', 'experiments/walk-through')).status, 200);
  const { src, token } = await caller.getEmbedCode(subId, 'js');
  const widget = new WidgetCaller(http, subId, token);
  await widget.offers(widgetLoadId(1));
  assert.equal((await widget.sendEvents(report)).status, 204);
  const script = pathOf(src);
  const { headers } = await http.send({ path: script });
  const again = await http.send({ path: script, headers: { 'If-None-Match': headers.get('etag')! } });
  assert.equal(again.status, 304);
  return subId;
}

/** Sends invalid requests: wrong methods, keys, bodies and ids. */
async function beRefused(market: RunningMarketplace, caller: ApiCaller): Promise<void> {
  const { http } = market;
  const stranger = market.callerWithKey(fixture, market.issueKey(equipmentLeasesFixture).key);
  for (const ask of operations(caller)) {
    assert.equal((await http.send({ ...ask, headers: {} })).status, 401);
    assert.equal((await http.send({ ...ask, method: 'PATCH' })).status, 405);
  }
  for (const ask of operations(stranger)) assert.equal((await http.send(ask)).status, 403);
  const reader = market.caller(fixture, { scope: 'analytics' });
  const forbidden = await Promise.all(operations(reader).map((ask) => http.send(ask)));
  assert.equal(forbidden.filter(({ status }) => status === 403).length, 6);
  for (const path of ['/c', '/w', '/w/widget.js', '/w/offers', '/w/events']) {
    assert.equal((await http.send({ method: 'DELETE', path })).status, 405);
  }

  // Ambiguous framing, which two servers could parse in different ways.
  const unclear = { path: '/w/widget.js', headers: { 'Transfer-Encoding': 'chunked' } };
  assert.equal((await http.send(unclear)).status, 400);

  const large = `{"referrer_tag":"${'a'.repeat(bounds.requestBodyBytesMax)}"}`;
  for (const operation of ['session', 'inputs'] as const) {
    assert.equal((await caller.post(operation, large)).status, 413);
    assert.equal((await caller.post(operation, {}, { 'Content-Type': 'text/plain' })).status, 415);
    assert.equal((await caller.post(operation, [])).status, 400);
  }
  for (const [status, body, headers] of [
    [413, large, {}],
    [415, '{}', { 'Content-Type': 'text/plain' }],
    [400, '{}', {}],
  ] as const) {
    for (const [method, path] of [
      ['PUT', 'experiments/refused'],
      ['POST', 'experiments/refused/close'],
      ['POST', 'experiments/refused/plan'],
    ] as const) {
      assert.equal((await caller.send(method, path, body, headers)).status, status);
    }
  }
  for (const method of ['GET', 'DELETE'] as const) {
    assert.equal((await caller.send(method, 'experiments/refused')).status, 404);
    assert.equal((await caller.send(method, 'experiments/Refused')).status, 400);
  }
  assert.equal((await caller.send('POST', 'experiments/refused/close', { outcome: 'broken' })).status, 404);
  assert.equal((await caller.send('GET', 'experiments/refused/arm?unit_id=1')).status, 404);
  assert.equal((await caller.send('GET', 'experiments/refused/results')).status, 404);
  assert.equal((await caller.send('GET', 'experiments/refused/results?series=1')).status, 400);
  assert.equal((await caller.send('GET', 'experiments/refused/arm')).status, 400);
  assert.equal((await caller.send('GET', 'experiments?cursor=x')).status, 400);
  assert.equal((await caller.send('GET', 'experiments/refused/units')).status, 404);
  assert.equal((await caller.send('GET', 'experiments/refused/units?cursor=x')).status, 400);
  assert.equal((await caller.post('session', {})).status, 400);
  assert.equal((await caller.get('analytics', { referrer_tag: 'No tag' })).status, 400);
  const { sub_id: empty } = await caller.createSession('refused');
  assert.equal((await caller.get('marketplace', { sub_id: empty, format: 'json' })).status, 400);
  const wrong = { [fixture.amount]: 'much' };
  assert.equal((await caller.post('inputs', { sub_id: empty, fields: wrong })).status, 400);
  const keyed = { 'Idempotency-Key': 'one' };
  await caller.post('session', { referrer_tag: 'refused-a' }, keyed);
  assert.equal((await caller.post('session', { referrer_tag: 'refused-b' }, keyed)).status, 422);
  const unknown = `sub_${'0'.repeat(64)}`;
  assert.equal((await caller.post('inputs', { sub_id: unknown, fields: {} })).status, 404);
  assert.equal((await caller.get('marketplace', { sub_id: unknown, format: 'json' })).status, 404);
  assert.equal((await caller.get('marketplace', {})).status, 400);
  assert.equal((await caller.get('analytics', {})).status, 400);
  assert.equal((await caller.get('tags', { cursor: 'x' })).status, 400);
  assert.equal((await http.send({ path: '/c?sub=x&offer=y&v=z' })).status, 404);
  assert.equal((await http.send({ path: '/w?sub=x&token=y' })).status, 404);
  assert.equal((await http.send({ path: '/c', headers: { 'Sec-Purpose': 'prefetch' } })).status, 503);
}

/** Sends requests of a widget that the service rejects. */
async function beRefusedOnPages(market: RunningMarketplace, caller: ApiCaller): Promise<void> {
  const foreign = { Origin: 'https://elsewhere.example' };
  const ahead = { 'Sec-Purpose': 'prefetch' };
  const stranger = new WidgetCaller(market.http, '', '');
  const widget = await caller.createWidget('refused-pages', fixture.complete);
  const load = widgetLoadId(1);
  assert.equal((await stranger.get('/offers', { load })).status, 404);
  assert.equal((await widget.get('/offers', { load }, foreign)).status, 403);
  const framed = { 'Sec-Fetch-Dest': 'iframe', Referer: 'https://elsewhere.example/' };
  assert.equal((await widget.get('', {}, framed)).status, 403);
  assert.equal((await widget.get('/offers')).status, 400);
  assert.equal((await widget.get('/offers', { load }, ahead)).status, 503);
  await caller.submitFields(widget.subId, { [fixture.amount]: null });
  assert.equal((await widget.get('/offers', { load })).status, 400);

  assert.equal((await stranger.sendEvents(report)).status, 404);
  assert.equal((await widget.sendEvents(report, foreign)).status, 403);
  assert.equal((await widget.sendEvents({})).status, 400);
  assert.equal((await widget.sendEvents(' '.repeat(bounds.requestBodyBytesMax + 1))).status, 413);
  let asked = 0;
  while ((await widget.sendEvents(report)).status === 204) asked++;
  assert.ok(asked < bounds.widgetRequestsPerMinute);
  assert.equal((await widget.sendEvents(report)).status, 429);
  assert.equal((await widget.get('/offers', { load })).status, 429);
}

async function spendLimits(market: RunningMarketplace): Promise<void> {
  for (const place of operations(market.caller(fixture)).keys()) {
    const caller = market.caller(fixture, { limits: { requestsPerMinute: 1 } });
    const ask = operations(caller)[place]!;
    await market.http.send(ask);
    assert.equal((await market.http.send(ask)).status, 429);
  }
}

/** Sends requests while the clock throws, which is an unexpected error for the service. */
async function breakDown(market: RunningMarketplace, caller: ApiCaller, subId: string): Promise<void> {
  const { token } = await caller.getEmbedCode(subId, 'js');
  const { offers } = await caller.offers(subId);
  const now = market.clock.wallMs();
  const widget = new WidgetCaller(market.http, subId, token);
  const paths = [pathOf(offers[0]!.click_url), widget.path(''), widget.path('/offers')];
  const told: HttpRequest = { method: 'POST', path: widget.path('/events'), headers: { 'Content-Length': '0' } };
  for (const ask of [...operations(caller), ...paths.map((path): HttpRequest => ({ path })), told]) {
    market.clock.wallMs = () => {
      const fault = new Error('the clock has stopped');
      // Lets the timers of the service continue, so that the exception occurs in a request.
      if (fault.stack?.includes('node:internal/timers')) return now;
      throw fault;
    };
    try {
      assert.equal((await market.http.send(ask)).status, 500);
    } finally {
      Reflect.deleteProperty(market.clock, 'wallMs');
    }
  }
}

/** Sends more concurrent explain requests than the queue allows. */
async function askTooMuch(market: RunningMarketplace, t: TestContext): Promise<void> {
  const key = market.issueKey(fixture, { mode: 'test' });
  const subId = await market.callerWithKey(fixture, key.key).createSessionWithFields('too-much', fixture.complete);
  const path = `/v1/${fixture.vertical.segment}/marketplace?sub_id=${subId}&format=json&explain=`;
  const headers = { Authorization: `Bearer ${key.key}` };
  const clients = [market.http, new HttpClient(market.http.port), new HttpClient(market.http.port)];
  for (const client of clients) runAfterTest(t, () => client.close());
  const ask = (explain: boolean): Promise<HttpResponse[]> =>
    Promise.all(
      clients.flatMap((client) => Array.from({ length: 16 }, () => client.send({ path: path + explain, headers }))),
    );
  // Opens the connections before the explain requests.
  await ask(false);
  const statuses = (await ask(true)).map(({ status }) => status);
  assert.deepEqual([...new Set(statuses)].sort(), [200, 503]);
}

/** Requests analytics while another connection locks the analytics store, so that the aggregator cannot count the session. */
async function askWhileNothingIsCounted(market: RunningMarketplace, caller: ApiCaller): Promise<void> {
  const store = new Database(dataPaths(market.folder).analyticsStoreFile);
  store.exec('BEGIN IMMEDIATE');
  try {
    await caller.createSession('not-counted');
    const queries = [
      caller.get('analytics', { referrer_tag: 'not-counted' }),
      caller.get('tags', {}),
      caller.send('PUT', 'experiments/not-counted', experiment),
      caller.send('GET', 'experiments/not-counted'),
      caller.send('GET', 'experiments/not-counted/results'),
      caller.send('GET', 'experiments'),
      caller.send('GET', 'experiments/not-counted/arm?unit_id=1'),
      caller.send('GET', 'experiments/not-counted/units'),
      caller.send('DELETE', 'experiments/not-counted'),
      caller.send('POST', 'experiments/not-counted/close', { outcome: 'broken' }),
      caller.send('POST', 'experiments/not-counted/plan', experiment),
    ];
    for (const { status } of await Promise.all(queries)) assert.equal(status, 503);
  } finally {
    store.close();
  }
}

/** Sends bodies that never end, which makes their connections unusable. */
async function neverEnd(market: RunningMarketplace, t: TestContext, caller: ApiCaller): Promise<void> {
  const widget = await caller.createWidget('never-ends', fixture.complete);
  const headers = {
    Authorization: `Bearer ${caller.key}`,
    'Content-Type': 'application/json',
    'Content-Length': '1000',
  };
  const client = new HttpClient(market.http.port);
  runAfterTest(t, () => client.close());
  const paths = [`${caller.basePath}/inputs`, widget.path('/events')];
  const answers = await Promise.all(paths.map((path) => client.send({ method: 'POST', path, headers, body: '{' })));
  for (const { status } of answers) assert.equal(status, 503);
}

/** Requests the page of a widget before and after its session expires. */
async function followToTheEnd(market: RunningMarketplace, caller: ApiCaller, subId: string): Promise<void> {
  const { token } = await caller.getEmbedCode(subId, 'iframe');
  const widget = new WidgetCaller(market.http, subId, token);
  assert.equal((await widget.get('')).status, 200);
  market.clock.advance(bounds.sessionTtlMs);
  assert.equal((await widget.get('')).status, 400);
  assert.equal((await widget.get('/offers', { load: widgetLoadId(1) })).status, 400);
  assert.equal((await widget.sendEvents(report)).status, 400);
  assert.equal((await caller.post('inputs', { sub_id: subId, fields: {} })).status, 400);
  assert.equal((await caller.get('marketplace', { sub_id: subId, format: 'json' })).status, 400);
}

/** One request for each operation. */
function operations({ basePath, key }: ApiCaller): readonly HttpRequest[] {
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json', 'Content-Length': '2' };
  const { 'Content-Length': _, ...reading } = headers;
  return [
    ...['session', 'inputs'].map((name) => ({ method: 'POST', path: `${basePath}/${name}`, headers, body: '{}' })),
    { path: `${basePath}/marketplace`, headers: reading },
    { path: `${basePath}/analytics`, headers: reading },
    { path: `${basePath}/tags`, headers: reading },
    { path: `${basePath}/experiments`, headers: reading },
    { path: `${basePath}/experiments/any-test`, headers: reading },
    { path: `${basePath}/experiments/any-test/arm`, headers: reading },
    { path: `${basePath}/experiments/any-test/results`, headers: reading },
    { path: `${basePath}/experiments/any-test/units`, headers: reading },
    { method: 'PUT', path: `${basePath}/experiments/any-test`, headers, body: '{}' },
    { method: 'POST', path: `${basePath}/experiments/any-test/close`, headers, body: '{}' },
    { method: 'POST', path: `${basePath}/experiments/any-test/plan`, headers, body: '{}' },
    { method: 'DELETE', path: `${basePath}/experiments/any-test`, headers: reading },
  ];
}

function pathOf(address: string): string {
  const { pathname, search } = new URL(address);
  return pathname + search;
}
