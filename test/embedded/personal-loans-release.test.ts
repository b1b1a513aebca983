import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { roundHalfUp } from '../../src/domain/money.ts';
import type { AnalyticsSummary, ApiKeyMode, ConfirmationRow, Marketplace, SessionResponse } from '../../src/index.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { unpackDataFolder } from '../support/unpack-data-folder.ts';
import { personalLoansFixture as fixture } from '../support/vertical-fixtures.ts';
import { ok, refusal, startEmbedded } from './embedded-marketplace.ts';

/**
 * Data folder of the release before credit cards, mortgage and banking (commit 92ecfe05), and the answers of that release. A program
 * that embedded the release wrote the folder with a manual clock, the example catalogs, and a daily cap of one click on `cobalt-prime`. In
 * each mode, it created:
 * - a session with clicks on three offers, and in live mode two payouts and a reversal;
 * - a session with the same offers and a click beyond the daily cap, whose other links it did not follow (`unclicked`);
 * - a session with 64 recorded clicks, and one more click that was not recorded (`unrecorded`);
 * - a session with an Idempotency-Key and with all fields but `state` (`keyed`);
 * - a session with a widget view and a widget event.
 * All keys, secrets and tokens in the folder exist only in this test.
 */
const packedFolder = join(import.meta.dirname, 'personal-loans-release-data');

interface ModeFixture {
  readonly key: string;
  /** Session of the first clicks. */
  readonly clickedSubId: string;
  /** Unfollowed links, with the landing URLs and the revenue of the same offers in the session of the first clicks. */
  readonly unclicked: {
    readonly subId: string;
    readonly links: readonly { readonly url: string; readonly landingUrl: string }[];
    readonly revenue: number;
  };
  /** Click ids of the first clicks. */
  readonly clickIds: readonly string[];
  readonly acceptedConfirmation: ConfirmationRow | null;
  readonly unrecorded: { readonly subId: string; readonly clickId: string; readonly revenue: number };
  readonly keyed: SessionResponse;
  readonly analytics: {
    readonly summary: AnalyticsSummary;
    readonly daily: { readonly data: readonly object[] };
    readonly row: object;
  };
}

interface Fixture extends Readonly<Record<ApiKeyMode, ModeFixture>> {
  /** Time at which the release stopped. */
  readonly writtenMs: number;
  readonly keys: readonly object[];
  readonly revokedKey: string;
}

const expected = JSON.parse(readFileSync(join(packedFolder, 'expected.json'), 'utf8')) as Fixture;
const modes = ['live', 'test'] as const;
const hourMs = 60 * 60 * 1000;
const dayMs = 24 * hourMs;
const minuteMs = 60 * 1000;
const urls = { public: 'https://offers.example', click: 'https://go.example' };
const nameOf = { live: 'live', test: 'sandbox' } as const;

/** Starts the service on a copy of the folder, this long after the earlier release stopped. */
async function startAfterUpgrade(t: TestContext, pauseMs = minuteMs) {
  const dataDir = temporaryFolder(t);
  unpackDataFolder(packedFolder, dataDir);
  const clock = new ManualClock(expected.writtenMs + pauseMs);
  const marketplace = await startEmbedded(t, { dataDir, clock, urls });
  const partnerOf = (each: ApiKeyMode) => marketplace.partnerApi(expected[each].key);
  const summaryOf = async (each: ApiKeyMode, subId: string) =>
    ok(await partnerOf(each).queryAnalytics({ sub_id_list: [subId], date_from: '2026-05-19' }));
  return { clock, dataDir, marketplace, partnerOf, summaryOf };
}

/** Rounds all amounts to cents, as the earlier release did. */
function roundAmounts<View>(view: View): View {
  return JSON.parse(JSON.stringify(view), (name, value) =>
    name === 'rev_attributed' || name === 'rev_confirmed' ? roundHalfUp(value, 2) : value,
  );
}

/** Follows click links and checks the landing URLs. */
async function followLinks(marketplace: Marketplace, links: ModeFixture['unclicked']['links']): Promise<void> {
  for (const { url, landingUrl } of links) {
    const click = await marketplace.followClick(url);
    assert.ok(click.kind === 'redirect');
    assert.equal(click.location, landingUrl.replace('{click_id}', click.clickId));
  }
}

test('API keys of the earlier release are valid, and a revoked key is rejected', async (t) => {
  const { marketplace, partnerOf } = await startAfterUpgrade(t);
  // The earlier release had no scopes.
  const keys = expected.keys.map((key) => ({ ...key, scope: 'full' }));
  assert.deepEqual(marketplace.keys.list(), keys);
  for (const each of modes) {
    const { sandbox } = ok(await partnerOf(each).createSession({ referrer_tag: 'after-upgrade' }));
    assert.equal(sandbox, each === 'test');
  }
  const revoked = marketplace.partnerApi(expected.revokedKey);
  assert.equal(refusal(await revoked.createSession({ referrer_tag: 'after-upgrade' })).error, 'UNAUTHORIZED');
});

for (const each of modes) {
  const { clickedSubId, unclicked, keyed, analytics } = expected[each];

  test(`analytics of the ${nameOf[each]} sessions are equal to those of the earlier release`, async (t) => {
    const partner = (await startAfterUpgrade(t)).partnerOf(each);
    const { summary, daily, row } = analytics;
    const query = { referrer_tag: summary.referrer_tag!, date_from: summary.date_from, date_to: summary.date_to };
    const { clicks_not_booked, bot_sessions, matured, ...figures } = roundAmounts(
      ok(await partner.queryAnalytics(query)),
    );
    // The earlier release had no revenue per click.
    const top_lenders = figures.top_lenders.map(({ rev_confirmed_per_click: _, ...lender }) => lender);
    assert.deepEqual({ ...figures, top_lenders }, summary);
    assert.deepEqual([bot_sessions, matured.sessions_with_revenue], [0, 0]);
    // The earlier release had no such counts. One live click came after the offer had reached its daily cap.
    assert.deepEqual(clicks_not_booked, { cap: each === 'live' ? 1 : 0, budget: 0, too_fast: 0, too_many_offers: 0 });
    const { data, ...page } = roundAmounts(ok(await partner.queryAnalytics({ ...query, granularity: 'daily' })));
    assert.deepEqual({ ...page, data: data.map(({ clicks_not_booked: _, ...day }) => day) }, daily);
    assert.deepEqual(roundAmounts(ok(await partner.queryAnalytics({ ...query, granularity: 'row' }))), row);
  });

  test(`${nameOf[each]} sessions of the earlier release keep their fields for four hours`, async (t) => {
    const { clock, partnerOf } = await startAfterUpgrade(t);
    const partner = partnerOf(each);
    clock.setWall(Date.parse(keyed.created_at) + 4 * hourMs - 1);
    const body = { referrer_tag: keyed.referrer_tag };
    assert.deepEqual(ok(await partner.createSession(body, { idempotencyKey: 'retry-1' })), keyed);
    const { missing_required } = ok(await partner.submitInputs({ sub_id: keyed.sub_id, fields: {} }));
    assert.deepEqual(missing_required, ['state']);
    ok(await partner.submitInputs({ sub_id: keyed.sub_id, fields: { state: fixture.complete.state } }));
    const { match_quality, offers } = ok(await partner.getMarketplace({ sub_id: keyed.sub_id }));
    assert.ok(match_quality === 'high' && offers.length > 0);
    assert.equal(refusal(await partner.getMarketplace({ sub_id: clickedSubId })).error, 'SUB_ID_EXPIRED');
    clock.advance(1);
    assert.equal(refusal(await partner.getMarketplace({ sub_id: keyed.sub_id })).error, 'SUB_ID_EXPIRED');
  });

  test(`${nameOf[each]} click links of the earlier release redirect to the same landing URLs and book the same revenue`, async (t) => {
    const { marketplace, summaryOf } = await startAfterUpgrade(t, 23 * hourMs);
    await followLinks(marketplace, unclicked.links);
    const { offer_clicks, rev_attributed } = roundAmounts(await summaryOf(each, unclicked.subId));
    // The earlier release counted a click on the offer at its daily cap.
    assert.deepEqual([offer_clicks, rev_attributed], [1 + unclicked.links.length, unclicked.revenue]);
  });

  test(`${nameOf[each]} click links of the earlier release redirect to the same landing URLs for 28 hours`, async (t) => {
    const { clock, dataDir, marketplace } = await startAfterUpgrade(t);
    await marketplace.close();
    clock.setWall(expected.writtenMs + 28 * hourMs - 1);
    await followLinks(await startEmbedded(t, { dataDir, clock, urls }), unclicked.links);
  });
}

test('confirmations with click_ids of the earlier release are accepted for 90 days', async (t) => {
  const { clock, marketplace, summaryOf } = await startAfterUpgrade(t, 89 * dayMs);
  const confirm = async (click_id: string, txid = 'tx-late') => {
    const occurred_at = new Date(expected.writtenMs + 80 * dayMs).toISOString();
    const row = { click_id, txid, status: 'funded', amount: 25, occurred_at } as const;
    const { outcome, reason } = ok(await marketplace.confirmations.submit([row])).results[0]!;
    return reason ?? outcome;
  };
  const { clickedSubId, clickIds, acceptedConfirmation, unrecorded } = expected.live;
  const before = await summaryOf('live', clickedSubId);
  for (const clickId of clickIds) assert.equal(await confirm(clickId), 'accepted');
  const after = await summaryOf('live', clickedSubId);
  assert.equal(after.rev_confirmed, before.rev_confirmed + 25 * clickIds.length);
  assert.equal(ok(await marketplace.confirmations.submit([acceptedConfirmation!])).repeated, 1);
  // The confirmation restores the click that was not recorded.
  const busy = await summaryOf('live', unrecorded.subId);
  assert.equal(await confirm(unrecorded.clickId), 'accepted');
  const restored = await summaryOf('live', unrecorded.subId);
  assert.equal(restored.offer_clicks, busy.offer_clicks + 1);
  assert.equal(restored.rev_attributed.toFixed(2), (busy.rev_attributed + unrecorded.revenue).toFixed(2));
  for (const clickId of expected.test.clickIds) assert.equal(await confirm(clickId), 'sandbox');
  clock.advance(dayMs);
  assert.equal(await confirm(clickIds[0]!, 'tx-too-late'), 'too_late');
});
