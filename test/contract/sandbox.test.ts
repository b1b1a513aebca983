import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Mode } from '../../src/domain/mode.ts';
import type { IgnoredNames } from '../../src/operations/ignored-names.ts';
import { type ApiCaller, assertOk } from '../support/api-caller.ts';
import { describePersonalLoans } from '../support/contract-suite.ts';
import { listedOffer } from '../support/vertical-fixture.ts';

describePersonalLoans('test keys', (door) => {
  const shown = async (caller: ApiCaller) => {
    const subId = await caller.sessionWith('sandbox', door.fixture.complete);
    const view = await caller.offers(subId, { max_offers: 20 });
    return { ...view, sub_id: '', generated_at: '', offers: view.offers.map((offer) => ({ ...offer, click_url: '' })) };
  };

  test('test keys receive only offers of the sandbox catalog', async () => {
    const { market, fixture } = door;
    const tests = await shown(market.caller(fixture, { mode: 'test' }));
    assert.ok(tests.offers.length > 0);
    for (const { svc_offer_id: id } of tests.offers) listedOffer(fixture, id, 'test');
    const lives = await shown(market.caller(fixture));
    for (const { svc_offer_id: id } of lives.offers) assert.throws(() => listedOffer(fixture, id, 'test'));
    assert.notEqual(tests.catalog_version, lives.catalog_version);
    assert.equal(tests.disclosure, fixture.catalogFiles.test.disclosure);
  });

  test('test keys receive the same offers for every request', async () => {
    const { market, fixture } = door;
    const first = await shown(market.caller(fixture, { mode: 'test' }));
    for (let again = 0; again < 3; again++) {
      assert.deepEqual(await shown(market.caller(fixture, { mode: 'test' })), first);
    }
  });

  test('test keys receive unknown members and parameters in `ignored`, unlike live keys', async () => {
    const { market, fixture } = door;
    const listed = async (mode: Mode): Promise<unknown[]> => {
      const caller = market.caller(fixture, { mode });
      const misspelt = 'm'.repeat(65);
      const created = await caller.post('session', { referrer_tag: 'ignored', metdata: {}, [misspelt]: 1 });
      const session = assertOk<{ sub_id: string } & IgnoredNames>(created);
      const body = { sub_id: session.sub_id, fields: fixture.complete, field: 1 };
      const inputs = assertOk<IgnoredNames>(await caller.post('inputs', body));
      const offers = `sub_id=${session.sub_id}&max=1&%73ortt=x&max=2`;
      const json = assertOk<IgnoredNames>(await caller.get('marketplace', `${offers}&format=json`));
      const accept = { Accept: 'application/json' };
      const embed = assertOk<IgnoredNames>(await caller.get('marketplace', `${offers}&format=js`, accept));
      const figures = assertOk<IgnoredNames>(await caller.get('analytics', { referrer_tag: 'ignored', from: '2026' }));
      return [session, inputs, json, embed, figures].map(({ ignored }) => ignored);
    };
    const sentToOffers = ['max', 'sortt'];
    const sessions = ['metdata', 'm'.repeat(64)];
    assert.deepEqual(await listed('test'), [sessions, ['field'], sentToOffers, sentToOffers, ['from']]);
    assert.deepEqual(await listed('live'), Array(5).fill(undefined));
  });

  test('clicks of test keys have zero revenue and redirect to the landing page of the sandbox', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture, { mode: 'test' });
    const subId = await caller.sessionWith('sandbox-clicks', fixture.complete);
    const { offers } = await caller.offers(subId);
    const [offer] = offers as [(typeof offers)[0]];
    const answer = await caller.click(offer.click_url);
    assert.equal(answer.status, 302);
    const landing = new URL(answer.headers.get('location') ?? '');
    assert.equal(landing.origin, new URL(market.marketplace.urls.click).origin);
    assert.ok((landing.searchParams.get('click_id') ?? '').length > 20);

    const page = await caller.click(landing.href);
    assert.equal(page.status, 200);
    assert.match(page.headers.get('content-type') ?? '', /^text\/html/);
    assert.match(page.text, /sandbox/i);

    const summary = await caller.summary({ referrer_tag: 'sandbox-clicks' });
    assert.deepEqual([summary.offer_clicks, summary.rev_attributed, summary.rev_confirmed], [1, 0, 0]);
    assert.deepEqual(summary.top_lenders, [{ lender: offer.lender_name, clicks: 1, rev_confirmed: 0 }]);
  });
});
