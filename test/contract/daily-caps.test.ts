import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sortOrderNames } from '../../src/domain/vertical.ts';
import type { MarketplaceResponse } from '../../src/index.ts';
import type { ApiCaller } from '../support/api-caller.ts';
import { cappedCatalogs } from '../support/changeable-catalogs.ts';
import { describePersonalLoans } from '../support/contract-suite.ts';
import { totalClickMicros } from '../support/vertical-fixture.ts';
import { allFixtures } from '../support/vertical-fixtures.ts';

const cap = 3;

const offerOf = ({ offers }: MarketplaceResponse, id: string) => offers.find((offer) => offer.svc_offer_id === id);
const linkOf = (view: MarketplaceResponse, id: string) => offerOf(view, id)!.click_url;

describePersonalLoans(
  'an offer with a daily cap',
  (door) => {
    const { fixture } = door;
    /** Creates a session and requests 20 offers. */
    const visit = async (caller: ApiCaller, tag: string) => {
      const subId = await caller.createSessionWithFields(tag, fixture.complete);
      return { subId, view: await caller.offers(subId, { max_offers: 20 }) };
    };

    test('an offer that reaches its daily cap disappears from all responses immediately, also from cached rankings', async () => {
      const [one, other] = [door.caller(), door.caller()];
      const before = await visit(one, 'leaves');
      const id = before.view.offers[0]?.svc_offer_id as string;
      for (let place = 1; place <= cap; place++) {
        const { view } = await visit(other, 'leaves');
        assert.ok(offerOf(view, id), `gone after ${place - 1} of ${cap}`);
        await other.click(linkOf(view, id));
      }
      for (const sort of sortOrderNames) {
        const after = await one.offers(before.subId, { max_offers: 20, sort });
        assert.equal(offerOf(after, id), undefined);
        assert.equal(after.total_offers, before.view.total_offers - 1);
        assert.equal(after.offers.length, 20);
        assert.deepEqual(
          after.offers.map(({ position }) => position),
          after.offers.map((_, at) => at + 1),
        );
      }
      const late = await visit(other, 'leaves');
      assert.equal(offerOf(late.view, id), undefined);
      assert.equal(late.view.total_offers, before.view.total_offers - 1);
    });

    test('concurrent clicks record revenue for exactly as many clicks as the daily cap', async () => {
      const callers = [door.caller(), door.caller()];
      const visits = await Promise.all(
        Array.from({ length: 24 }, async (_, at) => {
          const caller = callers[at % 2] as ApiCaller;
          return { caller, ...(await visit(caller, 'at-once')) };
        }),
      );
      const ids = visits[0]?.view.offers.slice(2, 6).map((offer) => offer.svc_offer_id) as string[];
      const clicks = visits.flatMap(({ caller, view }) => ids.map((id) => caller.click(linkOf(view, id))));
      for (const answer of await Promise.all(clicks)) assert.equal(answer.status, 302);
      let [booked, counted] = [0, 0];
      for (const caller of callers) {
        const summary = await caller.summary({ referrer_tag: 'at-once' });
        booked += Math.round(summary.rev_attributed * 1e6);
        counted += summary.offer_clicks;
      }
      assert.equal(counted, visits.length * ids.length);
      assert.equal(booked, cap * totalClickMicros(fixture, ids));
      for (const { caller, subId } of visits.slice(0, 2)) {
        const after = await caller.offers(subId, { max_offers: 20 });
        for (const id of ids) assert.equal(offerOf(after, id), undefined);
      }
    });
  },
  { catalogs: cappedCatalogs(allFixtures, cap) },
);
