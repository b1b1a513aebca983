import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MarketplaceView, OfferView } from '../../src/index.ts';
import type { ApiCaller } from '../support/api-caller.ts';
import { describeEveryVertical } from '../support/contract-suite.ts';
import { RunningMarketplace } from '../support/running-marketplace.ts';
import { listedOffer, worthMicros } from '../support/vertical-fixture.ts';

const sorts = ['recommended', 'lowest_apr', 'highest_amount', 'svc_revenue'] as const;

const byId = (one: OfferView, other: OfferView) => (one.svc_offer_id < other.svc_offer_id ? -1 : 1);
const byApr = (one: OfferView, other: OfferView) =>
  one.apr_range.min - other.apr_range.min || one.apr_range.max - other.apr_range.max || byId(one, other);
const byAmount = (one: OfferView, other: OfferView) =>
  other.loan_amount_range.max - one.loan_amount_range.max || byApr(one, other);

async function inAllSorts(caller: ApiCaller, subId: string): Promise<Record<(typeof sorts)[number], OfferView[]>> {
  const views: [string, OfferView[]][] = [];
  for (const sort of sorts) views.push([sort, [...(await caller.offers(subId, { sort, max_offers: 20 })).offers]]);
  return Object.fromEntries(views) as Record<(typeof sorts)[number], OfferView[]>;
}

describeEveryVertical('the sorts', (door) => {
  /**
   * Asserts that the list is in this order, and that every offer known from another list sorts after its last offer. More than
   * 20 offers match, so each sort order returns different offers.
   */
  const assertTop = (
    lists: Readonly<Record<string, readonly OfferView[]>>,
    sort: string,
    order: (one: OfferView, other: OfferView) => number,
  ) => {
    const known = new Map(Object.values(lists).flatMap((offers) => offers.map((offer) => [offer.svc_offer_id, offer])));
    const ids = (offers: Iterable<OfferView>) => [...offers].map(({ svc_offer_id: id }) => id);
    assert.equal(lists[sort]?.length, 20);
    assert.ok(known.size > 20, 'the lists must differ for this to say anything');
    assert.deepEqual(ids(lists[sort] as OfferView[]), ids([...known.values()].sort(order)).slice(0, 20));
  };

  const lists = async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture);
    return inAllSorts(caller, await caller.sessionWith('sorting', fixture.complete));
  };

  test("lowest_apr sorts by the borrower's lowest rate, then by the highest rate, then by id", async () => {
    assertTop(await lists(), 'lowest_apr', byApr);
  });

  test('highest_amount sorts by the amount available to the borrower in descending order, then as lowest_apr', async () => {
    assertTop(await lists(), 'highest_amount', byAmount);
  });

  test('svc_revenue sorts by the expected revenue of a click in descending order, then by id', async () => {
    const { fixture } = door;
    const worth = ({ svc_offer_id: id }: OfferView) => worthMicros(fixture, [id]);
    assertTop(await lists(), 'svc_revenue', (one, other) => worth(other) - worth(one) || byId(one, other));
  });

  test('each sort order is named in the response and counts the same offers', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture);
    const subId = await caller.sessionWith('named', fixture.complete);
    const totals = new Set<number>();
    for (const sort of sorts) {
      const view: MarketplaceView = await caller.offers(subId, { sort });
      assert.equal(view.sort, sort);
      totals.add(view.total_offers);
    }
    assert.equal(totals.size, 1);
  });

  test('each sort order is the same for every request, and for another session of the same borrower', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture);
    const ids = ({ offers }: MarketplaceView) => offers.map(({ svc_offer_id: id }) => id);
    const one = await caller.sessionWith('again', fixture.complete);
    const other = await caller.sessionWith('again', fixture.complete);
    for (const sort of sorts) {
      const expected = ids(await caller.offers(one, { sort, max_offers: 20 }));
      assert.deepEqual(ids(await caller.offers(one, { sort, max_offers: 20 })), expected);
      assert.deepEqual(ids(await caller.offers(other, { sort, max_offers: 20 })), expected);
    }
  });

  test('recommended does not depend on payouts, unlike svc_revenue', async (t) => {
    const { engine, fixture, market } = door;
    const turned = structuredClone(fixture.catalogFiles.live);
    const payouts = turned.lenders.flatMap(({ offers }) => offers.map(({ payout_usd }) => payout_usd));
    const most = Math.max(...payouts);
    for (const { offers } of turned.lenders) for (const offer of offers) offer.payout_usd = most + 1 - offer.payout_usd;
    const catalogs = fixture.catalogs.map((source) =>
      source.mode === 'live' ? { vertical: source.vertical, mode: source.mode, text: JSON.stringify(turned) } : source,
    );
    const other = await RunningMarketplace.start(engine, { catalogs, matcherThreads: 0 });
    t.after(() => other.close());
    const listed = async (on: RunningMarketplace) => {
      const caller = on.caller(fixture);
      const all = await inAllSorts(caller, await caller.sessionWith('payouts', fixture.complete));
      return Object.fromEntries(sorts.map((sort) => [sort, all[sort].map(({ svc_offer_id: id }) => id)]));
    };
    const [before, after] = [await listed(market), await listed(other)];
    for (const sort of ['recommended', 'lowest_apr', 'highest_amount']) assert.deepEqual(after[sort], before[sort]);
    assert.notDeepEqual(after.svc_revenue, before.svc_revenue);
    assert.ok(before.recommended?.every((id) => listedOffer(fixture, id)));
  });
});
