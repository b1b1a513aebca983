import assert from 'node:assert/strict';
import { readdirSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { bounds } from '../../src/bounds.ts';
import { dataPaths } from '../../src/files/data-paths.ts';
import type { ConfirmationRow, Marketplace, OfferView, PartnerApi, SessionResponse } from '../../src/index.ts';
import type { LedgerSpan } from '../../src/ledger/ledger.ts';
import { addSecret } from '../../src/secrets/secret-file.ts';
import { encodeSnapshotContent, readSnapshotContent, snapshotContentPath } from '../../src/snapshots/snapshot-files.ts';
import { ChangeableCatalogs, withBudgets, withDailyCap, withoutOffers } from '../support/changeable-catalogs.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { findListedOffer, totalClickUsd } from '../support/vertical-fixture.ts';
import { personalLoansFixture as fixture } from '../support/vertical-fixtures.ts';
import { newKey, ok, refusal, startEmbedded } from './embedded-marketplace.ts';

const hourMs = 60 * 60 * 1000;
const sessionsPerDay = 5;

/** The second of two services on one data folder, and what the first one returned. */
interface SecondRun {
  readonly clock: ManualClock;
  readonly partner: PartnerApi;
  readonly marketplace: Marketplace;
  /** Session from before the restart with three shown offers and a click on the first one. */
  readonly subId: string;
  readonly offers: readonly OfferView[];
  /** Accepted confirmation of the click. */
  readonly confirmation: ConfirmationRow;
  /** Request with an Idempotency-Key, and its response. */
  readonly retried: {
    readonly body: { readonly referrer_tag: string; readonly metadata: { readonly page: number } };
    readonly options: { readonly idempotencyKey: string };
    readonly session: SessionResponse;
  };
}

/** Runs a service on a folder, closes it, advances the clock, and starts another service with the same folder and key. */
async function afterRestart(t: TestContext, pauseMs = 0, meanwhile = (_dataDir: string) => {}): Promise<SecondRun> {
  const dataDir = temporaryFolder(t);
  const clock = new ManualClock();
  const first = await startEmbedded(t, { dataDir, clock });
  const { key } = first.keys.create({ ...newKey, limits: { sessionsPerDay } });
  const partner = first.partnerApi(key);
  const { sub_id: subId } = ok(await partner.createSession({ referrer_tag: 'restart' }));
  ok(await partner.createSession({ referrer_tag: 'restart' }));
  const [body, options] = [{ referrer_tag: 'restart', metadata: { page: 1 } }, { idempotencyKey: 'retry-1' }];
  const retried = { body, options, session: ok(await partner.createSession(body, options)) };
  ok(await partner.submitInputs({ sub_id: subId, fields: fixture.complete }));
  const { offers } = ok(await partner.getMarketplace({ sub_id: subId, max_offers: 3 }));
  const click = await first.followClick(offers[0]!.click_url);
  assert.ok(click.kind === 'redirect');
  const occurred_at = new Date(clock.wallMs()).toISOString();
  const confirmation = { click_id: click.clickId, txid: 'tx-1', status: 'funded', amount: 40, occurred_at } as const;
  assert.equal(ok(await first.confirmations.submit([confirmation])).accepted, 1);
  await first.close();

  meanwhile(dataDir);
  clock.advance(pauseMs);
  const marketplace = await startEmbedded(t, { dataDir, clock });
  return { clock, partner: marketplace.partnerApi(key), marketplace, subId, offers, confirmation, retried };
}

test('a restart retains sessions with their fields and offers, and the number of sessions of the current day', async (t) => {
  const { partner, subId, offers } = await afterRestart(t);
  const again = ok(await partner.getMarketplace({ sub_id: subId, max_offers: 3 }));
  assert.deepEqual(
    again.offers.map(({ click_url: _, ...offer }) => offer),
    offers.map(({ click_url: _, ...offer }) => offer),
  );
  assert.equal(ok(await partner.submitInputs({ sub_id: subId, fields: {} })).match_readiness, 'high');
  const cleared = ok(await partner.submitInputs({ sub_id: subId, fields: { state: null } }));
  assert.deepEqual(cleared.missing_required, ['state']);
  for (let count = 3; count < sessionsPerDay; count++) ok(await partner.createSession({ referrer_tag: 'restart' }));
  assert.equal(refusal(await partner.createSession({ referrer_tag: 'restart' })).error, 'RATE_LIMIT_EXCEEDED');
});

for (const [what, meanwhile] of [
  ['after a restart', () => {}],
  ['after a new secret was added', (dataDir: string) => assert.equal(addSecret(join(dataDir, 'secrets.json')), 2)],
  [
    'after the analytics store was deleted',
    (dataDir: string) => {
      for (const suffix of ['', '-wal', '-shm']) rmSync(join(dataDir, `analytics.sqlite${suffix}`), { force: true });
    },
  ],
] as const) {
  test(`analytics, confirmations, click links and Idempotency-Keys are retained ${what}`, async (t) => {
    const { partner, marketplace, offers, confirmation, retried } = await afterRestart(t, 0, meanwhile);
    const query = { referrer_tag: 'restart' };
    const before = ok(await partner.queryAnalytics(query));
    assert.deepEqual([before.sessions_total, before.marketplace_views, before.offer_clicks], [3, 1, 1]);
    const ids = offers.map(({ svc_offer_id: id }) => id);
    assert.equal(before.rev_attributed, totalClickUsd(fixture, ids.slice(0, 1)));
    assert.deepEqual(before.top_lenders, [
      { lender: offers[0]!.lender_name, clicks: 1, rev_confirmed: 40, rev_confirmed_per_click: 40 },
    ]);
    assert.equal(ok(await marketplace.confirmations.submit([confirmation])).repeated, 1);
    for (const { click_url: url } of offers) assert.equal((await marketplace.followClick(url)).kind, 'redirect');
    const after = ok(await partner.queryAnalytics(query));
    assert.deepEqual([after.offer_clicks, after.rev_attributed], [3, totalClickUsd(fixture, ids)]);

    const { body, options, session } = retried;
    assert.deepEqual(ok(await partner.createSession(body, options)), session);
    assert.equal(
      refusal(await partner.createSession({ referrer_tag: 'other' }, options)).error,
      'IDEMPOTENCY_MISMATCH',
    );
    assert.equal(ok(await partner.queryAnalytics(query)).sessions_total, 3);
  });
}

test('sessions and Idempotency-Keys expire four hours after their creation, not after the restart', async (t) => {
  const { partner, clock, subId, retried } = await afterRestart(t, 3 * hourMs);
  const { body, options, session } = retried;
  clock.advance(hourMs - 1);
  ok(await partner.submitInputs({ sub_id: subId, fields: {} }));
  assert.equal(ok(await partner.createSession(body, options)).sub_id, session.sub_id);
  clock.advance(1);
  assert.equal(refusal(await partner.submitInputs({ sub_id: subId, fields: {} })).error, 'SUB_ID_EXPIRED');
  assert.notEqual(ok(await partner.createSession(body, options)).sub_id, session.sub_id);
});

test('after a restart on the next day, old sessions are expired and do not count towards the session limit of the new day', async (t) => {
  const { partner, subId } = await afterRestart(t, 12 * hourMs);
  assert.equal(refusal(await partner.getMarketplace({ sub_id: subId })).error, 'SUB_ID_EXPIRED');
  for (let count = 0; count < sessionsPerDay; count++) ok(await partner.createSession({ referrer_tag: 'restart' }));
  assert.equal(refusal(await partner.createSession({ referrer_tag: 'restart' })).error, 'RATE_LIMIT_EXCEEDED');
});

test('a restart retains the number of recorded clicks of a session', async (t) => {
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

/** Offer that the tests limit. */
const limitedOffer = 'cobalt-prime';

/** Returns the click URL of the limited offer for a new session; undefined if the offer has reached its limit. */
async function findClickUrl(marketplace: Marketplace, key: string, tag: string): Promise<string | undefined> {
  const partner = marketplace.partnerApi(key);
  const { sub_id } = ok(await partner.createSession({ referrer_tag: tag }));
  ok(await partner.submitInputs({ sub_id, fields: fixture.complete }));
  const { offers } = ok(await partner.getMarketplace({ sub_id, max_offers: 20 }));
  return offers.find(({ svc_offer_id: id }) => id === limitedOffer)?.click_url;
}

test('after a restart, clicks from earlier on the same UTC day still count towards the daily caps', async (t) => {
  const dataDir = temporaryFolder(t);
  const catalogs = new ChangeableCatalogs(fixture);
  const clock = new ManualClock();
  const start = () => startEmbedded(t, { dataDir, clock, catalogs: catalogs.sources });
  const first = await start();
  const { key } = first.keys.create(newKey);
  const link = (marketplace: Marketplace) => findClickUrl(marketplace, key, 'caps');
  const setCap = (cap: number) => catalogs.writeCatalog(withDailyCap(catalogs.initialCatalog, cap, [limitedOffer]));
  for (let click = 0; click < 2; click++) await first.followClick((await link(first))!);
  // The clicks were recorded before the offer had a cap.
  setCap(3);
  assert.ok((await first.reloadCatalogs())[0]?.ok);
  await first.followClick((await link(first))!);
  assert.equal(await link(first), undefined);
  await first.close();

  setCap(4);
  const second = await start();
  await second.followClick((await link(second))!);
  assert.equal(await link(second), undefined);
  await second.close();

  clock.advance(12 * hourMs - 1);
  const third = await start();
  assert.equal(await link(third), undefined);
  clock.advance(1);
  const links: string[] = [];
  for (let session = 0; session < 5; session++) links.push((await link(third))!);
  await third.close();

  catalogs.writeCatalog(withoutOffers(catalogs.initialCatalog, [limitedOffer]));
  const fourth = await start();
  const [landingUrl] = findListedOffer(fixture, limitedOffer).offer.landing_url.split('{click_id}');
  for (const url of links) {
    const click = await fourth.followClick(url);
    assert.ok(click.kind === 'redirect' && click.location.includes(landingUrl!));
  }
  const summary = ok(await fourth.partnerApi(key).queryAnalytics({ referrer_tag: 'caps' }));
  // The cap of four applied on both days, on the second day to the links of the removed offer.
  const worth = totalClickUsd(fixture, [limitedOffer]);
  assert.deepEqual([summary.offer_clicks, summary.rev_attributed], [9, 8 * worth]);
});

/** Changes the last record of the snapshot, which then belongs to another ledger. */
function replaceSnapshot(folder: string, otherRecord: Partial<LedgerSpan['end']>): void {
  const { span, pieces } = readSnapshotContent(folder).content!;
  const end = { ...span.end, ...otherRecord };
  writeFileSync(snapshotContentPath(folder), encodeSnapshotContent({ span: { ...span, end }, pieces }));
}

function damagePiece(folder: string, part: string): void {
  const file = readdirSync(folder).find((name) => name.startsWith(`${part}.`))!;
  const path = join(folder, file);
  truncateSync(path, statSync(path).size - 1);
}

for (const { damage, what } of [
  { damage: null, what: 'a saved snapshot' },
  { damage: (folder: string) => rmSync(folder, { recursive: true }), what: 'no saved snapshot' },
  { damage: (folder: string) => writeFileSync(snapshotContentPath(folder), 'damaged'), what: 'a damaged snapshot' },
  { damage: (folder: string) => damagePiece(folder, 'bookings'), what: 'a snapshot with a damaged piece' },
  { damage: (folder: string) => replaceSnapshot(folder, { crc: 1 }), what: 'a snapshot of another ledger' },
  { damage: (folder: string) => replaceSnapshot(folder, { position: 1_000 }), what: 'a snapshot of a longer ledger' },
]) {
  test(`after a restart with ${what}, clicks from earlier in the month still count towards a budget`, async (t) => {
    const dataDir = temporaryFolder(t);
    const catalogs = new ChangeableCatalogs(fixture);
    const id = limitedOffer;
    const clickUsd = totalClickUsd(fixture, [id]);
    const budget = { per_month_usd: 3 * clickUsd, pacing: 'asap' } as const;
    catalogs.writeCatalog(withBudgets(catalogs.initialCatalog, (offer) => (offer.id === id ? budget : undefined)));
    const clock = new ManualClock();
    const start = () => startEmbedded(t, { dataDir, clock, catalogs: catalogs.sources });
    const first = await start();
    const { key } = first.keys.create(newKey);
    const link = (marketplace: Marketplace) => findClickUrl(marketplace, key, 'budget');
    for (let click = 0; click < 2; click++) await first.followClick((await link(first))!);
    await first.close();

    damage?.(dataPaths(dataDir).snapshotFolder);
    clock.advance(3 * 24 * hourMs);
    const second = await start();
    const late = (await link(second))!;
    await second.followClick((await link(second))!);
    assert.equal(await link(second), undefined);
    assert.equal((await second.followClick(late)).kind, 'redirect');
    const summary = ok(await second.partnerApi(key).queryAnalytics({ referrer_tag: 'budget' }));
    assert.deepEqual([summary.offer_clicks, summary.rev_attributed], [4, totalClickUsd(fixture, [id, id, id])]);
    await second.close();
  });
}
