import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { MarketplaceView } from '../../src/index.ts';
import type { ApiCaller } from '../support/api-caller.ts';
import { ChangeableCatalogs, movedCatalog } from '../support/changeable-catalogs.ts';
import type { Answer } from '../support/http-client.ts';
import { engines, RunningMarketplace } from '../support/running-marketplace.ts';
import { listedOffer, type VerticalFixture, worthUsd } from '../support/vertical-fixture.ts';
import { allFixtures } from '../support/vertical-fixtures.ts';

const hourMs = 60 * 60 * 1000;
const movedHead = 'https://moved.example/';

/** Whether a click redirected to the landing URL from the time of the view. */
function assertLandsOld(fixture: VerticalFixture, id: string, answer: Answer): void {
  const [head] = listedOffer(fixture, id).offer.landing_url.split('{click_id}') as [string];
  assert.equal(answer.status, 302);
  assert.ok(answer.headers.get('location')?.startsWith(head), answer.headers.get('location'));
}

/** A session with 20 offers from the original catalog. Later every landing URL changed and the first offer was removed. */
interface Visit {
  readonly caller: ApiCaller;
  readonly subId: string;
  readonly before: MarketplaceView;
  readonly gone: Offer;
}
type Offer = MarketplaceView['offers'][number];

/** Number of tests per vertical. Each test uses one visit. */
const testsOfEach = 5;

async function visit(market: RunningMarketplace, fixture: VerticalFixture): Promise<Visit> {
  const caller = market.caller(fixture);
  const subId = await caller.sessionWith('before', fixture.complete);
  const before = await caller.offers(subId, { max_offers: 20 });
  return { caller, subId, before, gone: before.offers[0]! };
}

for (const engine of engines) {
  for (const fixture of allFixtures) {
    describe(`after a replacement of the catalog, on ${engine}, in ${fixture.vertical.segment}`, () => {
      const catalogs = new ChangeableCatalogs(fixture);
      let market: RunningMarketplace;
      const visits: Visit[] = [];
      before(async () => {
        market = await RunningMarketplace.start(engine, { catalogs: catalogs.sources });
        for (let count = 0; count < testsOfEach; count++) visits.push(await visit(market, fixture));
        const [gone] = visits[0]!.before.offers as [Offer];
        catalogs.write(movedCatalog(catalogs.first, [gone.svc_offer_id]));
        assert.deepEqual(
          (await market.marketplace.reloadCatalogs()).map((change) => change.ok && change.changed),
          [true],
        );
      });
      after(async () => {
        await market?.close();
        catalogs.remove();
      });

      test('a session receives the offers of the new catalog with their new links and values', async () => {
        const { caller, subId, before, gone } = visits.pop()!;
        const after = await caller.offers(subId, { max_offers: 20 });
        assert.notEqual(after.catalog_version, before.catalog_version);
        assert.equal(after.total_offers, before.total_offers - 1);
        assert.ok(after.offers.every(({ svc_offer_id: id }) => id !== gone.svc_offer_id));
        const { svc_offer_id: id, click_url: url } = after.offers[0]!;
        const answer = await caller.click(url);
        assert.ok(answer.headers.get('location')?.startsWith(movedHead));
        const { rev_attributed: revenue } = await caller.summary({ referrer_tag: 'before' });
        assert.equal(revenue, worthUsd(fixture, [id, id, id]));
      });

      test('an earlier link keeps its landing URL and its value, also if the offer was removed', async () => {
        const { caller, before } = visits.pop()!;
        const clicked = before.offers.slice(0, 3);
        for (const { svc_offer_id: id, click_url: url } of clicked) {
          assertLandsOld(fixture, id, await caller.click(url));
        }
        const summary = await caller.summary({ referrer_tag: 'before' });
        assert.equal(summary.offer_clicks, 3);
        const ids = clicked.map(({ svc_offer_id: id }) => id);
        assert.equal(summary.rev_attributed, worthUsd(fixture, ids));
      });

      test('an earlier link keeps its landing URL and its value after a later view of the same session', async () => {
        const { caller, subId, before } = visits.pop()!;
        await caller.offers(subId, { max_offers: 20 });
        const { svc_offer_id: id, click_url: url } = before.offers[1]!;
        assertLandsOld(fixture, id, await caller.click(url));
        const { rev_attributed: revenue } = await caller.summary({ referrer_tag: 'before' });
        assert.equal(revenue, worthUsd(fixture, [id]));
      });

      test('a link whose offer and encrypted value are from different catalog versions returns 404', async () => {
        const { caller, subId, before, gone } = visits.pop()!;
        const after = await caller.offers(subId, { max_offers: 20 });
        const swapped = new URL(after.offers[0]!.click_url);
        swapped.searchParams.set('offer', gone.svc_offer_id);
        assert.equal((await caller.click(swapped.href)).status, 404);
        const old = new URL(before.offers[1]!.click_url);
        swapped.searchParams.set('offer', before.offers[1]!.svc_offer_id);
        swapped.searchParams.set('v', old.searchParams.get('v') as string);
        assertLandsOld(fixture, before.offers[1]!.svc_offer_id, await caller.click(swapped.href));
      });

      // Runs as the last test, because it advances the shared clock.
      test('an earlier link redirects for 28 hours and then returns 404', async () => {
        const { caller, before } = visits.pop()!;
        market.clock.advance(28 * hourMs - 1);
        const [{ svc_offer_id: id, click_url: url }] = before.offers as [(typeof before.offers)[0]];
        assertLandsOld(fixture, id, await caller.click(url));
        market.clock.advance(1);
        assert.equal((await caller.click(url)).status, 404);
      });
    });
  }
}
