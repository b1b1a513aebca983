import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LoanCatalog } from '../../src/verticals/personal-loans/offer-schema.ts';
import { ChangeableCatalogs, withBudgets, withDailyCap } from '../support/changeable-catalogs.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { totalClickUsd } from '../support/vertical-fixture.ts';
import { personalLoansFixture as fixture } from '../support/vertical-fixtures.ts';
import { newKey, ok, startEmbedded } from './embedded-marketplace.ts';

const offerId = 'cobalt-prime';
const clickUsd = totalClickUsd(fixture, [offerId]);
const budget = { per_day_usd: 2 * clickUsd, pacing: 'asap' } as const;

/** Limits of two clicks. `countsUnshown`: whether earlier clicks of sessions that did not get the offer count towards the limit. */
const limits = {
  'daily cap': {
    addTo: (catalog: LoanCatalog) => withDailyCap(catalog, 2, [offerId]),
    countsUnshown: false,
  },
  budget: {
    addTo: (catalog: LoanCatalog) => withBudgets(catalog, ({ id }) => (id === offerId ? budget : undefined)),
    countsUnshown: true,
  },
};

for (const [what, { addTo, countsUnshown }] of Object.entries(limits)) {
  test(`a ${what} that is added to a running service counts the earlier clicks of the day, and clicks on earlier links still book revenue`, async (t) => {
    const catalogs = new ChangeableCatalogs(fixture);
    const marketplace = await startEmbedded(t, { clock: new ManualClock(), catalogs: catalogs.sources });
    const partner = marketplace.partnerApi(marketplace.keys.create(newKey).key);
    const showOffers = async (maxOffers: number) => {
      const { sub_id } = ok(await partner.createSession({ referrer_tag: 'limit' }));
      ok(await partner.submitInputs({ sub_id, fields: fixture.complete }));
      return ok(await partner.getMarketplace({ sub_id, max_offers: maxOffers })).offers;
    };
    const requestLink = async () => (await showOffers(20)).find(({ svc_offer_id: id }) => id === offerId)?.click_url;

    assert.equal((await marketplace.followClick((await requestLink())!)).kind, 'redirect');
    const shownBefore = (await requestLink())!;
    if (!countsUnshown) {
      const [other] = await showOffers(1);
      assert.notEqual(other!.svc_offer_id, offerId);
      const url = new URL(other!.click_url);
      url.searchParams.set('offer', offerId);
      assert.equal((await marketplace.followClick(url)).kind, 'redirect');
    }
    catalogs.writeCatalog(addTo(catalogs.initialCatalog));
    assert.ok((await marketplace.reloadCatalogs())[0]?.ok);

    const beyondLimit = await requestLink();
    assert.notEqual(beyondLimit, undefined);
    await marketplace.followClick(shownBefore);
    assert.equal(await requestLink(), undefined);
    await marketplace.followClick(beyondLimit!);
    const { offer_clicks, rev_attributed } = ok(await partner.queryAnalytics({ referrer_tag: 'limit' }));
    assert.deepEqual([offer_clicks, rev_attributed], [3, totalClickUsd(fixture, [offerId, offerId])]);
  });
}
