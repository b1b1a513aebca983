import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { bounds } from '../../src/bounds.ts';
import {
  createMarketplace,
  type Marketplace,
  type OfferView,
  type PartnerApi,
  type Result,
  type SessionView,
} from '../../src/index.ts';
import { addSecret } from '../../src/secrets/secret-file.ts';
import { afterwards } from '../support/afterwards.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { temporaryFolder } from '../support/running-marketplace.ts';
import { worthUsd } from '../support/vertical-fixture.ts';
import { personalLoansFixture as fixture } from '../support/vertical-fixtures.ts';

const sessionsPerDay = 5;

function ok<Value>(result: Result<Value>): Value {
  assert.ok(result.ok, JSON.stringify(result));
  return result.value;
}

function refusal(result: Result<unknown>): string {
  assert.ok(!result.ok, JSON.stringify(result));
  return result.error.error;
}

interface Life {
  readonly clock: ManualClock;
  readonly partner: PartnerApi;
  readonly marketplace: Marketplace;
  /** Session from before the restart with three shown offers and a click on the first one. */
  readonly subId: string;
  readonly offers: readonly OfferView[];
  /** Request with an Idempotency-Key, and its response. */
  readonly retried: {
    readonly body: { readonly referrer_tag: string; readonly metadata: { readonly page: number } };
    readonly options: { readonly idempotencyKey: string };
    readonly session: SessionView;
  };
}

/** Runs a service on a folder, closes it, advances the clock, and starts another service with the same folder and key. */
async function afterRestart(t: TestContext, pauseMs = 0, meanwhile = (_dataDir: string) => {}): Promise<Life> {
  const dataDir = temporaryFolder();
  afterwards(t, () => rmSync(dataDir, { recursive: true }));
  const clock = new ManualClock();
  const urls = { click: 'https://go.example' };
  const first = await createMarketplace({ dataDir, clock, urls, durability: 'write' });
  const limits = { sessionsPerDay };
  const { key } = first.keys.create({ account: 'restarts', vertical: 'personal-loans', mode: 'live', limits });
  const partner = first.partner(key);
  const { sub_id: subId } = ok(await partner.createSession({ referrer_tag: 'restart' }));
  ok(await partner.createSession({ referrer_tag: 'restart' }));
  const [body, options] = [{ referrer_tag: 'restart', metadata: { page: 1 } }, { idempotencyKey: 'retry-1' }];
  const retried = { body, options, session: ok(await partner.createSession(body, options)) };
  ok(await partner.submitInputs({ sub_id: subId, fields: fixture.complete }));
  const { offers } = ok(await partner.getMarketplace({ sub_id: subId, max_offers: 3 }));
  await first.followClick(offers[0]!.click_url);
  await first.close();

  meanwhile(dataDir);
  clock.advance(pauseMs);
  const marketplace = await createMarketplace({ dataDir, clock, urls, durability: 'write' });
  afterwards(t, () => marketplace.close());
  return { clock, partner: marketplace.partner(key), marketplace, subId, offers, retried };
}

test('retains analytics after a restart', async (t) => {
  const { partner, offers } = await afterRestart(t);
  const summary = ok(await partner.queryAnalytics({ referrer_tag: 'restart' }));
  assert.deepEqual([summary.sessions_total, summary.marketplace_views, summary.offer_clicks], [3, 1, 1]);
  assert.equal(summary.rev_attributed, worthUsd(fixture, [offers[0]!.svc_offer_id]));
  assert.deepEqual(summary.top_lenders, [{ lender: offers[0]!.lender_name, clicks: 1, rev_confirmed: 0 }]);
});

test('retains live sessions, their fields and their offers after a restart', async (t) => {
  const { partner, subId, offers } = await afterRestart(t);
  const again = ok(await partner.getMarketplace({ sub_id: subId, max_offers: 3 }));
  assert.deepEqual(
    again.offers.map(({ click_url: _, ...offer }) => offer),
    offers.map(({ click_url: _, ...offer }) => offer),
  );
  assert.equal(ok(await partner.submitInputs({ sub_id: subId, fields: {} })).match_readiness, 'high');
  assert.deepEqual(ok(await partner.submitInputs({ sub_id: subId, fields: { state: null } })).missing_required, [
    'state',
  ]);
});

test('returns the first session for a retry after a restart', async (t) => {
  const { partner, retried } = await afterRestart(t);
  const { body, options, session } = retried;
  assert.deepEqual(ok(await partner.createSession(body, options)), session);
  assert.equal(refusal(await partner.createSession({ referrer_tag: 'other' }, options)), 'IDEMPOTENCY_MISMATCH');
  const summary = ok(await partner.queryAnalytics({ referrer_tag: 'restart' }));
  assert.equal(summary.sessions_total, 3);
});

test('deletes an Idempotency-Key with its session after a restart', async (t) => {
  const { partner, clock, retried } = await afterRestart(t, 3 * 60 * 60 * 1000);
  clock.advance(60 * 60 * 1000 - 1);
  const { body, options, session } = retried;
  assert.equal(ok(await partner.createSession(body, options)).sub_id, session.sub_id);
  clock.advance(1);
  assert.notEqual(ok(await partner.createSession(body, options)).sub_id, session.sub_id);
});

test('retains all data after a new secret was added', async (t) => {
  const { partner, marketplace, subId, offers, retried } = await afterRestart(t, 0, (dataDir) => {
    assert.equal(addSecret(join(dataDir, 'secrets.json')), 2);
  });
  assert.ok(ok(await partner.getMarketplace({ sub_id: subId })).offers.length > 0);
  assert.equal((await marketplace.followClick(offers[1]!.click_url)).kind, 'redirect');
  assert.deepEqual(ok(await partner.createSession(retried.body, retried.options)), retried.session);
  const summary = ok(await partner.queryAnalytics({ referrer_tag: 'restart' }));
  assert.deepEqual([summary.sessions_total, summary.offer_clicks], [3, 2]);
});

test('expires sessions four hours after their creation, not after the restart', async (t) => {
  const hourMs = 60 * 60 * 1000;
  const { partner, subId, clock } = await afterRestart(t, 3 * hourMs);
  ok(await partner.submitInputs({ sub_id: subId, fields: {} }));
  clock.advance(hourMs);
  assert.equal(refusal(await partner.submitInputs({ sub_id: subId, fields: {} })), 'SUB_ID_EXPIRED');
});

test('reports sessions that expired while the service was down as expired', async (t) => {
  const { partner, subId } = await afterRestart(t, 4 * 60 * 60 * 1000);
  assert.equal(refusal(await partner.getMarketplace({ sub_id: subId })), 'SUB_ID_EXPIRED');
});

test('retains the number of sessions of the current day after a restart', async (t) => {
  const { partner } = await afterRestart(t);
  for (let count = 3; count < sessionsPerDay; count++) ok(await partner.createSession({ referrer_tag: 'restart' }));
  assert.equal(refusal(await partner.createSession({ referrer_tag: 'restart' })), 'RATE_LIMIT_EXCEEDED');
});

test('does not count the sessions of the previous day after a restart', async (t) => {
  const { partner } = await afterRestart(t, 12 * 60 * 60 * 1000);
  for (let count = 0; count < sessionsPerDay; count++) ok(await partner.createSession({ referrer_tag: 'restart' }));
  assert.equal(refusal(await partner.createSession({ referrer_tag: 'restart' })), 'RATE_LIMIT_EXCEEDED');
});

test('retains the click count of a session after a restart', async (t) => {
  const { partner, marketplace, subId, offers } = await afterRestart(t);
  const unshown = fixture.catalogFiles.live.lenders
    .flatMap((lender) => lender.offers)
    .filter(({ id }) => offers.every((offer) => offer.svc_offer_id !== id));
  // One click was recorded before the restart.
  for (let click = 1; click < bounds.clicksRecordedPerSessionMax; click++) {
    const url = new URL(offers[0]!.click_url);
    url.searchParams.set('offer', unshown[click % unshown.length]!.id);
    assert.equal((await marketplace.followClick(url)).kind, 'redirect');
  }
  assert.equal((await marketplace.followClick(offers[1]!.click_url)).kind, 'redirect');
  assert.equal(ok(await partner.queryAnalytics({ sub_id_list: [subId] })).offer_clicks, 1);
});

test('retains click links after a restart, and recognizes repeated clicks', async (t) => {
  const { partner, marketplace, offers } = await afterRestart(t);
  for (const { click_url: url } of offers) {
    const outcome = await marketplace.followClick(url);
    assert.equal(outcome.kind, 'redirect');
  }
  const summary = ok(await partner.queryAnalytics({ referrer_tag: 'restart' }));
  assert.equal(summary.offer_clicks, 3);
  const ids = offers.map(({ svc_offer_id: id }) => id);
  assert.equal(summary.rev_attributed, worthUsd(fixture, ids));
});
