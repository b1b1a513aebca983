import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bounds } from '../../src/bounds.ts';
import type { ConfirmationsView } from '../../src/index.ts';
import { type ApiCaller, assertError, assertOk } from '../support/api-caller.ts';
import { clickIdFromRedirect } from '../support/click-ids.ts';
import { describePersonalLoans } from '../support/contract-suite.ts';
import { echoMarker, type HttpResponse } from '../support/http-client.ts';
import type { RunningMarketplace } from '../support/running-marketplace.ts';
import { findListedOffer, totalClickUsd } from '../support/vertical-fixture.ts';

function post(
  market: RunningMarketplace,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<HttpResponse> {
  const raw = typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
  return market.operations.send({
    method: 'POST',
    path: '/confirmations',
    headers: {
      Authorization: `Bearer ${market.operatorToken}`,
      'Content-Type': 'application/json',
      'Content-Length': String(Buffer.byteLength(raw)),
      ...headers,
    },
    body: raw,
  });
}

async function outcomes(market: RunningMarketplace, body: unknown): Promise<string[]> {
  const { results } = assertOk<ConfirmationsView>(await post(market, body));
  return results.map(({ outcome, reason }) => reason ?? outcome);
}

describePersonalLoans('POST /confirmations', (door) => {
  /** Creates a session, requests offers and clicks the first ones. */
  async function createClicks(caller: ApiCaller, tag: string, clicks = 1) {
    const subId = await caller.createSessionWithFields(tag, door.fixture.complete);
    const { offers } = await caller.offers(subId, { max_offers: 20 });
    const clickIds: string[] = [];
    for (const { svc_offer_id: id, click_url: url } of offers.slice(0, clicks)) {
      clickIds.push(clickIdFromRedirect(door.fixture, id, await caller.click(url)));
    }
    return { subId, offers, clickIds };
  }

  /** Returns a confirmation row for a click with the current time. */
  function row(click: object, more: object = {}) {
    const occurred_at = new Date(door.market.clock.wallMs()).toISOString();
    return { ...click, txid: 'tx-1', status: 'funded', amount: 40, occurred_at, ...more };
  }

  test('the next summary includes confirmations by click_id and confirmations by session and offer', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture);
    const { subId, offers, clickIds } = await createClicks(caller, 'shows', 2);
    await caller.createSession('shows');
    const [first, second] = offers.map(({ svc_offer_id: id }) => id) as [string, string];
    const body = [row({ click_id: clickIds[0] }), row({ sub_id: subId, svc_offer_id: second }, { amount: 2.345678 })];
    const answer = assertOk<ConfirmationsView>(await post(market, body));
    assert.deepEqual(answer, {
      accepted: 2,
      repeated: 0,
      rejected: 0,
      unknown: 0,
      results: [
        { index: 0, outcome: 'accepted' },
        { index: 1, outcome: 'accepted' },
      ],
    });
    const summary = await caller.summary({ referrer_tag: 'shows' });
    assert.equal(summary.rev_confirmed, 42.35);
    assert.equal(summary.rev_per_session, 21.172839);
    assert.equal(summary.rev_attributed, totalClickUsd(fixture, [first, second]));
    const confirmed = new Map(summary.top_lenders.map(({ lender, rev_confirmed }) => [lender, rev_confirmed]));
    const lenders = [first, second].map((id) => findListedOffer(fixture, id).lender);
    if (lenders[0] === lenders[1]) assert.equal(confirmed.get(lenders[0]!), 42.35);
    else assert.deepEqual([confirmed.get(lenders[0]!), confirmed.get(lenders[1]!)], [40, 2.35]);
    assert.equal(summary.by_device.unknown?.rev_confirmed, 42.35);
  });

  test('counts a repeated confirmation once, and rejects a different confirmation with the same txid', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture);
    const { subId, offers } = await createClicks(caller, 'once');
    market.clock.advance(1_000);
    const { svc_offer_id, click_url } = offers[0]!;
    const funded = row({ click_id: clickIdFromRedirect(fixture, svc_offer_id, await caller.click(click_url)) });
    assert.deepEqual(await outcomes(market, funded), ['accepted']);
    const pair = { ...funded, click_id: undefined, sub_id: subId, svc_offer_id };
    const expected = ['repeated', 'repeated', 'conflict', 'repeated'];
    assert.deepEqual(await outcomes(market, [funded, pair, { ...funded, amount: 41 }, funded]), expected);
    const summary = await caller.summary({ referrer_tag: 'once' });
    assert.deepEqual([summary.offer_clicks, summary.rev_confirmed], [1, 40]);
  });

  test('rejects the confirmation of a HEAD or bot click, and accepts that of a counted click on the same offer', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture);
    const subId = await caller.createSessionWithFields('never-counted', fixture.complete);
    const { offers } = await caller.offers(subId);
    const { svc_offer_id, click_url } = offers[0]!;
    const idOf = (answer: HttpResponse) => clickIdFromRedirect(fixture, svc_offer_id, answer);
    const headClick = row({ click_id: idOf(await caller.click(click_url, {}, 'HEAD')) });
    const botClick = row({ click_id: idOf(await caller.click(click_url, { 'User-Agent': 'Googlebot/2.1' })) });
    const pair = row({ sub_id: subId, svc_offer_id });
    const both = { ...pair, ...headClick };
    assert.deepEqual(await outcomes(market, pair), ['click_unknown']);
    const real = row({ click_id: idOf(await caller.click(click_url)) }, { txid: 'tx-2' });
    assert.deepEqual(await outcomes(market, [headClick, botClick, both, real, pair]), [
      ...Array(3).fill('click_not_counted'),
      'accepted',
      'accepted',
    ]);
    const summary = await caller.summary({ referrer_tag: 'never-counted' });
    assert.deepEqual([summary.offer_clicks, summary.rev_confirmed], [1, 80]);
  });

  test('requires the operator token for confirmations', async () => {
    const { market } = door;
    const { operatorToken: token } = market;
    const { key } = market.issueKey(door.fixture);
    const invalidHeaders = [
      '',
      token,
      'Bearer',
      'Bearer ',
      `Basic ${token}`,
      `Bearer ${token}x`,
      `Bearer ${token.slice(0, -1)}`,
      `Bearer ${token.toUpperCase()}`,
      `Bearer ${key}`,
      `Bearer ${echoMarker.repeat(500)}`,
    ];
    for (const Authorization of invalidHeaders) {
      const { message } = assertError(await post(market, [], { Authorization }), 'UNAUTHORIZED');
      assert.match(message, /operator's token.*Authorization: Bearer <TOKEN>.*file operator-token/);
    }
    assertOk(await post(market, [], { Authorization: `bearer  ${token}` }));
  });

  test('POST /confirmations accepts only JSON bodies up to the maximum size', async () => {
    const { market } = door;
    assertError(await post(market, '[]', { 'Content-Type': 'text/csv' }), 'UNSUPPORTED_MEDIA_TYPE');
    for (const body of ['', '{', `[${echoMarker}]`, Buffer.from([0x22, 0xff, 0x22])]) {
      assertError(await post(market, body), 'INVALID_REQUEST', 'body');
    }
    assertOk(await post(market, '[]'.padEnd(bounds.confirmationBodyBytesMax, ' ')));
    assertError(await post(market, '[]'.padEnd(bounds.confirmationBodyBytesMax + 1, ' ')), 'PAYLOAD_TOO_LARGE');
  });

  test('rejects a row with a repeated JSON member, without submitted values in the response', async () => {
    const rows = [
      '{"status":"funded","status":"funded"}',
      `{"x":1,"x":2,"amo\\u0075nt":1,"txid":"${echoMarker}","amount":2}`,
      JSON.stringify({
        click_id: echoMarker,
        sub_id: echoMarker,
        svc_offer_id: echoMarker,
        txid: echoMarker,
        status: echoMarker,
      }),
      JSON.stringify({ txid: 'tx', status: 'funded', amount: echoMarker }),
    ];
    const answer = await post(door.market, `[${rows.join(',')}]`);
    const { results, ...counts } = assertOk<ConfirmationsView>(answer);
    assert.deepEqual(counts, { accepted: 0, repeated: 0, rejected: 4, unknown: 0 });
    assert.deepEqual(
      results.map(({ reason }) => reason),
      ['status_repeated', 'amount_repeated', 'status_invalid', 'amount_invalid'],
    );
    assert.ok(!answer.text.includes(echoMarker));
    assert.deepEqual(await outcomes(door.market, '{"click_id":null,"click_id":"x"}'), ['click_id_repeated']);
  });
});
