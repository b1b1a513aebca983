import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { pino } from 'pino';
import { bounds } from '../../src/bounds.ts';
import { daysSinceEpoch, formatIsoDate, formatIsoTimestamp, msPerDay } from '../../src/domain/calendar.ts';
import type { ConfirmationsResponse } from '../../src/index.ts';
import type { TestClockTime } from '../../src/operations/advance-clock.ts';
import { assertError, assertOk, assertTimestamp } from '../support/api-caller.ts';
import { cappedCatalogs } from '../support/changeable-catalogs.ts';
import { clickIdFromRedirect } from '../support/click-ids.ts';
import { echoMarker } from '../support/http-client.ts';
import { runAfterTest } from '../support/run-after-test.ts';
import { type Engine, RunningMarketplace, type StartOptions } from '../support/running-marketplace.ts';
import { personalLoansFixture as fixture } from '../support/vertical-fixtures.ts';
import { askOperator } from './operator-request.ts';

async function start(t: TestContext, engine: Engine, options: StartOptions = {}) {
  const market = await RunningMarketplace.start(engine, { testClock: true, ...options });
  runAfterTest(t, () => market.close());
  const advance = async (days: number): Promise<TestClockTime> =>
    assertOk(await askOperator(market, { method: 'POST', path: '/test-clock', json: { advance_days: days } }));
  const readTime = async (): Promise<TestClockTime> => assertOk(await askOperator(market, { path: '/test-clock' }));
  return { market, advance, readTime };
}

const engines = ['uws', 'node'] as const;

for (const engine of engines) {
  test(`a click is confirmed after 20 days, and its revenue matures after 46 days (${engine})`, async (t) => {
    const { market, advance } = await start(t, engine);
    const caller = market.caller(fixture);
    const startMs = market.clock.wallMs();
    const subId = await caller.createSessionWithFields('rehearsal', fixture.complete);
    const { offers } = await caller.offers(subId);
    const { svc_offer_id: offerId, click_url: clickUrl } = offers[0]!;
    const click_id = clickIdFromRedirect(fixture, offerId, await caller.click(clickUrl));

    const { now } = await advance(20);
    assert.equal(Date.parse(now), startMs + 20 * msPerDay);
    assertError(await caller.get('marketplace', { sub_id: subId, format: 'json' }), 'SUB_ID_EXPIRED');
    assertError(await caller.post('inputs', { sub_id: subId, fields: {} }), 'SUB_ID_EXPIRED');
    const confirm = async (txid: string, occurred_at: string) => {
      const json = { click_id, txid, status: 'funded', amount: 40, occurred_at };
      const answer = await askOperator(market, { method: 'POST', path: '/confirmations', json });
      return assertOk<ConfirmationsResponse>(answer).results[0] as { outcome: string; reason?: string };
    };
    assert.equal((await confirm('early', formatIsoTimestamp(startMs + 21 * msPerDay))).reason, 'in_future');
    assert.equal((await confirm('paid', now)).outcome, 'accepted');

    await advance(25);
    const { matured: before } = await caller.summary({ referrer_tag: 'rehearsal' });
    assert.deepEqual([before.sessions, before.rev_per_session], [0, null]);
    for (const [days, date] of [
      [1, 46],
      [6, 52],
    ] as const) {
      await advance(days);
      const { matured } = await caller.summary({ referrer_tag: 'rehearsal' });
      assert.deepEqual([matured.sessions, matured.rev_per_session], [1, 40], `day ${date}`);
      assert.equal(matured.to, formatIsoDate(daysSinceEpoch(startMs) + date - 46));
    }
    await advance(39);
    assert.equal((await confirm('late', formatIsoTimestamp(startMs + 91 * msPerDay))).outcome, 'rejected');
  });

  test(`limits, caps and Idempotency-Keys of a day start again on the next day (${engine})`, async (t) => {
    const { market, advance } = await start(t, engine, { catalogs: cappedCatalogs([fixture], 1) });
    const caller = market.caller(fixture, { limits: { sessionsPerDay: 2 } });
    const create = () => caller.post('session', { referrer_tag: 'limits' }, { 'Idempotency-Key': 'once' });
    const first = assertOk<{ sub_id: string; expires_at: string }>(await create());
    assert.equal(assertTimestamp(first.expires_at), market.clock.wallMs() + bounds.sessionTtlMs);
    assert.deepEqual(assertOk(await create()), first);
    await caller.submitFields(first.sub_id, fixture.complete);
    const shown = await caller.offers(first.sub_id, { max_offers: 20 });
    const { svc_offer_id: capped, click_url: clickUrl } = shown.offers[0]!;
    await caller.click(clickUrl);
    const isShown = async (subId: string) =>
      (await caller.offers(subId, { max_offers: 20 })).offers.some((offer) => offer.svc_offer_id === capped);
    assert.equal(await isShown(first.sub_id), false);
    await caller.createSession('limits');
    assertError(await caller.post('session', { referrer_tag: 'limits' }), 'RATE_LIMIT_EXCEEDED');

    await advance(1);
    const second = assertOk<{ sub_id: string; expires_at: string }>(await create());
    assert.notEqual(second.sub_id, first.sub_id);
    assert.equal(assertTimestamp(second.expires_at), market.clock.wallMs() + msPerDay + bounds.sessionTtlMs);
    await caller.submitFields(second.sub_id, fixture.complete);
    assert.equal(await isShown(second.sub_id), true);
    await caller.createSession('limits');
    assertError(await caller.post('session', { referrer_tag: 'limits' }), 'RATE_LIMIT_EXCEEDED');
    const { data } = await caller.daily({ referrer_tag: 'limits' });
    assert.deepEqual(
      data.map(({ sessions_total: sessions }) => sessions).filter((sessions) => sessions > 0),
      [2, 2],
    );
  });

  test(`/test-clock needs the operator token and a valid body (${engine})`, async (t) => {
    const { market, advance, readTime } = await start(t, engine);
    const post = (json: unknown) => askOperator(market, { method: 'POST', path: '/test-clock', json });
    for (const [json, param] of [
      [{}, 'advance_days'],
      [null, 'advance_days'],
      [{ advance_days: 0 }, 'advance_days'],
      [{ advance_days: bounds.testClockDaysPerRequestMax + 1 }, 'advance_days'],
      [{ advance_days: echoMarker }, 'advance_days'],
      [{ advance_days: 1, [echoMarker]: 1 }, 'body'],
      [[1], 'body'],
      ['1', 'body'],
    ] as const) {
      assert.doesNotMatch(assertError(await post(json), 'INVALID_REQUEST', param).message, new RegExp(echoMarker));
    }
    for (const method of ['GET', 'POST']) {
      assertError(await market.operations.send({ method, path: '/test-clock' }), 'UNAUTHORIZED');
    }
    assertError(await askOperator(market, { method: 'DELETE', path: '/test-clock' }), 'METHOD_NOT_ALLOWED');
    const now = formatIsoTimestamp(market.clock.wallMs());
    assert.deepEqual(await readTime(), { now, advanced_days: 0 });
    assert.equal((await advance(1)).advanced_days, 1);
    const ready = assertOk(await market.operations.send({ path: '/readyz' }));
    assert.deepEqual(ready, { status: 'ready', test_clock: await readTime() });
  });
}

test('a service without a test clock does not know /test-clock, and /readyz has no clock', async (t) => {
  const lines: { readonly route?: string; readonly code?: string }[] = [];
  const logger = pino({ level: 'debug' }, { write: (line) => void lines.push(JSON.parse(line)) });
  const { market } = await start(t, 'uws', { testClock: false, logger });
  assert.equal(market.marketplace.testClock, null);
  for (const method of ['GET', 'POST']) {
    assertError(await askOperator(market, { method, path: '/test-clock', json: { advance_days: 1 } }), 'NOT_FOUND');
  }
  const routes = lines.filter(({ code }) => code === 'NOT_FOUND').map(({ route }) => route);
  assert.deepEqual(routes, ['other', 'other']);
  assert.deepEqual(assertOk(await market.operations.send({ path: '/readyz' })), { status: 'ready' });
});

test('keys expire by the test clock, and POST /keys compares `expires` with it', async (t) => {
  const { market, advance } = await start(t, 'uws');
  const startMs = market.clock.wallMs();
  const caller = market.caller(fixture, { expiresAt: new Date(startMs + 10 * msPerDay) });
  await caller.createSession('expiry');
  await advance(11);
  assertError(await caller.post('session', { referrer_tag: 'expiry' }), 'UNAUTHORIZED');
  const body = { account: 'new', vertical: fixture.vertical.segment, mode: 'live' };
  const create = (day: number) =>
    askOperator(market, {
      method: 'POST',
      path: '/keys',
      json: { ...body, expires: formatIsoTimestamp(startMs + day * msPerDay) },
    });
  assertError(await create(10), 'INVALID_REQUEST', 'expires');
  assert.equal((await create(12)).status, 201);
});

test('continues at the advanced time after a restart, with the sessions of that day', async (t) => {
  const { market, advance, readTime } = await start(t, 'uws');
  const { key } = market.issueKey(fixture, { limits: { sessionsPerDay: 1 } });
  const before = await advance(30);
  const subId = await market.callerWithKey(fixture, key).createSessionWithFields('restart', fixture.complete);
  await market.restart();
  assert.ok((await readTime()).now >= before.now);
  const caller = market.callerWithKey(fixture, key);
  assert.ok((await caller.offers(subId)).offers.length > 0);
  assertError(await caller.post('session', { referrer_tag: 'restart' }), 'RATE_LIMIT_EXCEEDED');
  await advance(1);
  await caller.createSession('restart');
});

test('deletes data beyond the retention during an advance', async (t) => {
  const { market, advance } = await start(t, 'uws', { retentionDays: bounds.retentionDaysMin });
  const caller = market.caller(fixture);
  const subId = await caller.createSessionWithFields('retention', fixture.complete);
  const firstDay = daysSinceEpoch(market.clock.wallMs());
  // The retention counts back from the day after the second newest day with sessions.
  for (const days of [70, 1]) {
    await advance(days);
    if (days > 1) await advance(days);
    await caller.createSession('retention');
  }
  const dates = { date_from: formatIsoDate(firstDay), date_to: formatIsoDate(firstDay) };
  const rows = async () =>
    (await caller.rows({ referrer_tag: 'retention', ...dates })).data.map(({ sub_id }) => sub_id);
  assert.deepEqual(await rows(), [subId]);
  await advance(2);
  assert.deepEqual(await rows(), []);
  assert.equal((await caller.summary({ referrer_tag: 'retention', ...dates })).sessions_total, 1);
});

test('deletes the pocket fields of expired sessions during an advance', async (t) => {
  const { market, advance } = await start(t, 'uws');
  await market.caller(fixture).createSessionWithFields('journal', fixture.complete);
  const listFiles = () =>
    readdirSync(join(market.folder, 'journal'), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name));
  const before = listFiles();
  assert.ok(before.length > 0);
  await advance(1);
  assert.deepEqual(
    listFiles().filter((path) => before.includes(path)),
    [],
  );
});

test('the embedded API advances the same clock, and creates keys at its time', async (t) => {
  const { market, readTime } = await start(t, 'uws');
  const { testClock, keys } = market.marketplace;
  assert.ok(testClock !== null);
  const advanced = await testClock.advance(2);
  assert.deepEqual(advanced, { ok: true, value: await readTime() });
  assert.deepEqual(testClock.readTime(), await readTime());
  const invalid = await testClock.advance(0.5);
  assert.ok(!invalid.ok && invalid.error.status === 400 && invalid.error.param === 'advance_days');
  keys.create({ account: 'new', vertical: fixture.vertical.segment, mode: 'test' });
  assert.equal(keys.list().at(-1)!.createdAtMs, market.clock.wallMs() + 2 * msPerDay);
});
