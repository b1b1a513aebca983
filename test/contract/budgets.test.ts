import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LoanOffer } from '../../src/verticals/personal-loans/offer-schema.ts';
import type { ApiCaller } from '../support/api-caller.ts';
import { withBudgets, withDailyCap } from '../support/changeable-catalogs.ts';
import { describePersonalLoans, type ServiceUnderTest } from '../support/contract-suite.ts';
import { Scrape } from '../support/scrape.ts';
import { totalClickMicros } from '../support/vertical-fixture.ts';
import { allFixtures, personalLoansFixture } from '../support/vertical-fixtures.ts';

const { vertical, catalogFiles, creditBand, complete, clickMicros } = personalLoansFixture;
/** Number of clicks of a complete borrower that fit into the budget of each offer. */
const clicksPerBudget = 3;

/** The offers with a payout have a budget of a bit more than three clicks. */
function budgetOf(offer: LoanOffer): LoanOffer['budget'] {
  const micros = offer.bands[complete[creditBand] as string] ? clickMicros(offer, complete[creditBand] as string) : 0;
  const usd = (clicksPerBudget * micros + 1) / 1_000_000;
  return micros === 0 ? undefined : { per_day_usd: usd, pacing: 'asap' };
}

/**
 * Limits of the first three sandbox offers: a cap of one click, a budget of one click, and a month's budget of one click for each of the
 * twelve days that remain on the day of the test clock.
 */
const [cappedId, spentId, pacedId] = catalogFiles.test.lenders.flatMap(({ offers }) => offers.map(({ id }) => id)) as [
  string,
  string,
  string,
];

function sandboxBudgetOf(offer: LoanOffer): LoanOffer['budget'] {
  const clickUsd = () => clickMicros(offer, complete[creditBand] as string) / 1_000_000;
  if (offer.id === spentId) {
    // A budget must cover the largest click of the offer, which is less than two clicks of a complete borrower.
    const largestMicros = Math.max(...Object.keys(offer.bands).map((band) => clickMicros(offer, band)));
    return { per_day_usd: largestMicros / 1_000_000, pacing: 'asap' };
  }
  return offer.id === pacedId ? { per_month_usd: 12 * clickUsd(), pacing: 'even' } : undefined;
}

const limited = {
  live: withBudgets(catalogFiles.live, budgetOf),
  test: withBudgets(withDailyCap(catalogFiles.test, 1, [cappedId]), sandboxBudgetOf),
};
const catalogs = allFixtures
  .flatMap((fixture) => fixture.catalogs)
  .map((source) =>
    source.vertical === vertical ? { vertical, mode: source.mode, text: JSON.stringify(limited[source.mode]) } : source,
  );

describePersonalLoans(
  'an offer with a budget',
  (door: ServiceUnderTest) => {
    const { fixture } = door;
    const visit = async (caller: ApiCaller, tag: string) => {
      const subId = await caller.createSessionWithFields(tag, fixture.complete);
      return { subId, offers: (await caller.offers(subId, { max_offers: 20 })).offers };
    };
    const linkOf = ({ offers }: Awaited<ReturnType<typeof visit>>, id: string) =>
      offers.find((offer) => offer.svc_offer_id === id)?.click_url;

    test('an offer disappears when its budget is used up; later clicks redirect, count, and book nothing', async () => {
      const caller = door.caller();
      const visits = await Promise.all(Array.from({ length: clicksPerBudget + 1 }, () => visit(caller, 'budget')));
      const id = visits[0]!.offers[0]!.svc_offer_id;
      for (const each of visits.slice(0, clicksPerBudget)) {
        const last = await visit(caller, 'other');
        assert.notEqual(linkOf(last, id), undefined);
        assert.equal((await caller.click(linkOf(each, id)!)).status, 302);
      }
      const late = visits[clicksPerBudget]!;
      assert.equal((await caller.click(linkOf(late, id)!)).status, 302);
      const summary = await caller.summary({ referrer_tag: 'budget' });
      const value = totalClickMicros(fixture, [id]);
      assert.equal(summary.offer_clicks, clicksPerBudget + 1);
      assert.equal(summary.rev_attributed, (clicksPerBudget * value) / 1_000_000);
      assert.equal(linkOf(await visit(caller, 'other'), id), undefined);
      // The offer also disappears from a ranking that was computed before.
      const { offers } = await caller.offers(late.subId, { max_offers: 20 });
      assert.ok(offers.length === 20 && offers.every((offer) => offer.svc_offer_id !== id));
      const scrape = await Scrape.of(door.market.operations);
      assert.equal(scrape.value('marketplace_unbooked_clicks_total', { reason: 'budget' }), 1);
      assert.equal(scrape.value('marketplace_offers_at_budget'), 1);
      const segment = vertical.segment;
      const revenueLabels = { vertical: segment, kind: 'booked' };
      assert.equal(scrape.value('marketplace_revenue_usd_total', revenueLabels), summary.rev_attributed);
      const budgetLabels = { vertical: segment, mode: 'live', period: 'day' };
      assert.equal(scrape.value('marketplace_budget_booked_usd', budgetLabels), summary.rev_attributed);
      const offersWithBudget = catalogFiles.live.lenders.flatMap((lender) => lender.offers.flatMap(budgetOf));
      const budgetUsd = offersWithBudget.reduce((sum, budget) => sum + (budget?.per_day_usd ?? 0), 0);
      assert.ok(Math.abs(scrape.value('marketplace_budget_usd', budgetLabels) - budgetUsd) < 1e-6);
    });

    test('concurrent clicks do not exceed the budget', async () => {
      const caller = door.caller();
      const visits = await Promise.all(Array.from({ length: 12 }, () => visit(caller, 'at-once')));
      const ids = visits[0]!.offers.slice(3, 6).map((offer) => offer.svc_offer_id);
      const clicks = visits.flatMap((each) => ids.map((id) => caller.click(linkOf(each, id)!)));
      for (const answer of await Promise.all(clicks)) assert.equal(answer.status, 302);
      const summary = await caller.summary({ referrer_tag: 'at-once' });
      const booked = clicksPerBudget * totalClickMicros(fixture, ids);
      assert.equal(summary.rev_attributed, booked / 1_000_000);
    });

    test('sandbox clicks use up a budget but attribute no revenue, and explain=true returns the reasons', async () => {
      const caller = door.caller({ mode: 'test' });
      const visits = [await visit(caller, 'sandbox'), await visit(caller, 'sandbox')];
      for (const { offers } of visits) {
        for (const { click_url: url } of offers) assert.equal((await caller.click(url)).status, 302);
      }
      const { explain, offers } = await caller.offers(visits[0]!.subId, { max_offers: 20, explain: 'true' });
      const reasons = explain!.reasons.filter(({ field }) => field === null);
      assert.deepEqual(
        reasons.map(({ reason, offers: count, alone }) => [reason, count, alone]),
        ['budget', 'daily_cap', 'paced'].map((reason) => [reason, 1, 1]),
      );
      const shown = offers.map(({ svc_offer_id: id }) => id);
      assert.ok([cappedId, spentId, pacedId].every((id) => !shown.includes(id)));
      const { offer_clicks, rev_attributed } = await caller.summary({ referrer_tag: 'sandbox' });
      assert.deepEqual([offer_clicks, rev_attributed], [visits.flatMap((each) => each.offers).length, 0]);
    });
  },
  { catalogs },
);
