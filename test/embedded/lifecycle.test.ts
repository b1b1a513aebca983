import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { createMarketplace, type PartnerApiResult } from '../../src/index.ts';
import { ApiCaller } from '../support/api-caller.ts';
import { HttpClient } from '../support/http-client.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { runAfterTest } from '../support/run-after-test.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { totalClickUsd } from '../support/vertical-fixture.ts';
import { personalLoansFixture } from '../support/vertical-fixtures.ts';
import { embeddedOptions, newKey, ok, refusal, startEmbedded } from './embedded-marketplace.ts';

for (const listen of [false, { engine: 'uws' }] as const) {
  test(`the embedded API supports the life cycle of a session ${listen ? 'with' : 'without'} a listener`, async (t) => {
    const dataDir = temporaryFolder(t);
    const marketplace = await startEmbedded(t, { dataDir, listen, matcherThreads: 1 });
    assert.equal(marketplace.ports === null, listen === false);
    assert.equal(existsSync(join(dataDir, 'operator-token')), listen !== false);
    assert.deepEqual(marketplace.notReadyReasons(), []);
    assert.equal(marketplace.reloadCertificate(), null);
    const { key } = marketplace.keys.create(newKey);
    const partner = marketplace.partnerApi(key);
    const session = ok(await partner.createSession({ referrer_tag: 'lifecycle', metadata: { page: 1 } }));
    const { sub_id } = session;
    if (marketplace.ports !== null) {
      const http = new HttpClient(marketplace.ports.public);
      runAfterTest(t, () => http.close());
      await new ApiCaller(http, 'personal-loans', key).submitFields(sub_id, personalLoansFixture.complete);
    } else ok(await partner.submitInputs({ sub_id, fields: personalLoansFixture.complete }));
    assert.equal(ok(await partner.submitInputs({ sub_id, fields: {} })).match_readiness, 'high');
    const view = ok(await partner.getMarketplace({ sub_id, max_offers: 3, sort: 'lowest_apr', explain: false }));
    assert.deepEqual([view.offers.length, view.sort, view.explain], [3, 'lowest_apr', undefined]);
    const url = view.offers[1]!.click_url;
    for (const purpose of ['prefetch', 'prefetch;prerender', 'foo, preview']) {
      assert.deepEqual(await marketplace.followClick(url, { purpose }), { kind: 'retry_later', retryAfterSeconds: 1 });
    }
    const uncounted = [
      { method: 'HEAD' },
      { userAgent: 'Googlebot/2.1' },
      { fetchDestination: 'image', fetchMode: 'no-cors' },
      { fetchDestination: 'empty', fetchMode: 'cors' },
    ];
    for (const visit of uncounted) {
      assert.equal((await marketplace.followClick(url, visit)).kind, 'redirect');
    }
    assert.equal(ok(await partner.queryAnalytics({ sub_id_list: [sub_id] })).offer_clicks, 0);
    const outcome = await marketplace.followClick(url, { fetchDestination: 'iframe', fetchMode: 'navigate' });
    assert.ok(outcome.kind === 'redirect' && outcome.location.includes(outcome.clickId));
    const summary = ok(await partner.queryAnalytics({ sub_id_list: [sub_id] }));
    assert.equal(summary.offer_clicks, 1);
    assert.equal(summary.rev_attributed, totalClickUsd(personalLoansFixture, [view.offers[1]!.svc_offer_id]));
    const days = ok(await partner.queryAnalytics({ referrer_tag: 'lifecycle', granularity: 'daily', limit: 30 }));
    const last = ok(
      await partner.queryAnalytics({ referrer_tag: 'lifecycle', granularity: 'daily', cursor: days.next_cursor! }),
    );
    assert.deepEqual([days.data.length, last.data.length, last.data[0]!.offer_clicks], [30, 1, 1]);
    const rows = ok(await partner.queryAnalytics({ sub_id_list: [sub_id], granularity: 'row' }));
    assert.deepEqual(
      rows.data.map((row) => [row.sub_id, row.metadata, row.rev_attributed]),
      [[sub_id, { page: 1 }, summary.rev_attributed]],
    );
  });
}

test('getMarketplace with explain: true returns the reasons of mismatches for test keys only', async (t) => {
  const { keys, partnerApi: partnerOf } = await startEmbedded(t);
  for (const mode of ['test', 'live'] as const) {
    const partner = partnerOf(keys.create({ ...newKey, mode }).key);
    const { sub_id } = ok(await partner.createSession({ referrer_tag: 'explained' }));
    ok(await partner.submitInputs({ sub_id, fields: personalLoansFixture.complete }));
    const answer = await partner.getMarketplace({ sub_id, explain: true });
    if (mode === 'test') assert.ok(ok(answer).explain!.reasons.length > 0);
    else assert.deepEqual([refusal(answer).error, refusal(answer).param], ['INVALID_REQUEST', 'explain']);
  }
});

test('the embedded API returns errors with the same status, code and properties as HTTP responses', async (t) => {
  const clock = new ManualClock();
  const marketplace = await startEmbedded(t, { clock });
  const partner = marketplace.partnerApi(marketplace.keys.create({ ...newKey, limits: { analyticsPerMinute: 1 } }).key);
  const { sub_id } = ok(await partner.createSession({ referrer_tag: 'refusals' }));

  const query = { referrer_tag: 'refusals' };
  const stranger = marketplace.partnerApi('svc_pl_live_none');
  const assertRefused = (answer: PartnerApiResult<unknown>, status: number, error: string, more: object = {}) =>
    assert.partialDeepStrictEqual(refusal(answer), { status, error, ...more });
  assertRefused(await partner.createSession({ referrer_tag: 'No' }), 400, 'INVALID_REFERRER_TAG');
  const invalid = await partner.submitInputs({ sub_id, fields: { state: 'XX' } });
  assertRefused(invalid, 400, 'INVALID_FIELD_VALUE', { fields_invalid: [{ field: 'state' }] });
  const missing = { missing_required: personalLoansFixture.required };
  assertRefused(await partner.getMarketplace({ sub_id }), 400, 'INSUFFICIENT_INPUTS', missing);
  const many = await partner.getMarketplace({ sub_id, max_offers: 21 });
  assertRefused(many, 400, 'INVALID_REQUEST', { param: 'max_offers' });
  assertRefused(await partner.getMarketplace({ sub_id: 'sub_x' }), 404, 'SUB_ID_NOT_FOUND');
  ok(await partner.queryAnalytics(query));
  assertRefused(await partner.queryAnalytics(query), 429, 'RATE_LIMIT_EXCEEDED', { retry_after: 60 });
  clock.advance(4 * 60 * 60 * 1000);
  assertRefused(await partner.getMarketplace({ sub_id }), 400, 'SUB_ID_EXPIRED');
  assertRefused(await stranger.createSession({ referrer_tag: 'abc' }), 401, 'UNAUTHORIZED');
});

test('followClick returns no redirect for an invalid click_url', async (t) => {
  const marketplace = await startEmbedded(t);
  for (const url of [
    '',
    'https://example.test/',
    'https://example.test/c?sub=x&offer=y&v=z',
    new URL('https://x.test/?%'),
  ]) {
    assert.deepEqual(await marketplace.followClick(url), { kind: 'unknown' });
  }
});

test('two marketplaces in one process are independent', async (t) => {
  const [one, other] = [
    await startEmbedded(t, { listen: { engine: 'uws' } }),
    await startEmbedded(t, { listen: { engine: 'uws' } }),
  ];
  assert.notEqual(one.ports?.public, other.ports?.public);
  const { key } = one.keys.create(newKey);
  const elsewhere = other.partnerApi(other.keys.create(newKey).key);
  const { sub_id } = ok(await one.partnerApi(key).createSession({ referrer_tag: 'two' }));
  assert.equal(refusal(await other.partnerApi(key).createSession({ referrer_tag: 'two' })).error, 'UNAUTHORIZED');
  assert.equal(refusal(await elsewhere.submitInputs({ sub_id, fields: {} })).error, 'SUB_ID_NOT_FOUND');
  assert.equal(ok(await elsewhere.queryAnalytics({ referrer_tag: 'two' })).sessions_total, 0);
  await one.close();
  ok(await elsewhere.createSession({ referrer_tag: 'two' }));
});

test('a failed start unlocks the data folder', async (t) => {
  const dataDir = temporaryFolder(t);
  const faulty = personalLoansFixture.catalogs.map(({ vertical, mode }) => ({ vertical, mode, text: '{' }));
  await assert.rejects(createMarketplace({ dataDir, catalogs: faulty, listen: { engine: 'uws' } }));
  const blocker = await startEmbedded(t, { listen: { engine: 'node' } });
  const taken = { engine: 'node', port: blocker.ports!.public } as const;
  await assert.rejects(createMarketplace({ dataDir, listen: taken }), { code: 'EADDRINUSE' });
  const marketplace = await createMarketplace({ ...embeddedOptions, dataDir });
  await marketplace.close();
});

test('close can be called repeatedly, and later API calls fail', async (t) => {
  const marketplace = await startEmbedded(t, { listen: { engine: 'node' } });
  const { key } = marketplace.keys.create(newKey);
  const partner = marketplace.partnerApi(key);
  const { sub_id } = ok(await partner.createSession({ referrer_tag: 'closed' }));
  await Promise.all([marketplace.close(), marketplace.close()]);
  await marketplace.close();
  assert.deepEqual(marketplace.notReadyReasons(), ['the service is stopping']);
  for (const answer of [
    await partner.createSession({ referrer_tag: 'closed' }),
    await partner.submitInputs({ sub_id, fields: {} }),
    await partner.getMarketplace({ sub_id }),
    await partner.getWidget({ sub_id, format: 'js' }),
    await partner.queryAnalytics({ referrer_tag: 'closed' }),
  ]) {
    assert.equal(!answer.ok && answer.error.error, 'SERVICE_UNAVAILABLE');
  }
  const { keys, origins } = marketplace;
  for (const call of [() => keys.list(), () => keys.create(newKey), () => keys.revoke('none'), () => origins.list()]) {
    assert.throws(call, { name: 'Error', message: 'this marketplace is closed' });
  }
});
